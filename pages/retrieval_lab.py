"""The retrieval lab: one question through every search mode, measured and explained."""

import ui

ui.require_frame("pages/retrieval_lab.py")

services = ui.services()
ui.show_lab_title()
library = ui.show_library(services)

if library.documents:
    before = ui.current_comparison()
    asked = ui.lab_form(
        before.question if before else "",
        samples=library.has_samples,
        can_rerank=services.lab.can_rerank,
    )
    if asked:
        ui.compare(services, asked)
    comparison = ui.current_comparison()
    if comparison:
        ui.show_comparison(comparison, services.labels)
    ui.show_quality(services.labels)
