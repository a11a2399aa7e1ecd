"""The retrieval lab: runs one question in each search mode, with timings and explanations."""

import ui

ui.require_frame("pages/retrieval_lab.py")

services = ui.services()
ui.show_lab_title()
library = ui.show_library(services)

if library.documents:
    before = ui.current_comparison()
    request = ui.lab_form(
        before.question if before else "",
        samples=library.has_samples,
        can_rerank=services.lab.can_rerank,
    )
    if request:
        ui.compare(services, request)
    comparison = ui.current_comparison()
    if comparison:
        ui.show_comparison(comparison, services.labels)
    ui.show_quality(services.labels)
