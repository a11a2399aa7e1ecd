"""The retrieval lab: runs one question in each search mode, with timings and explanations."""

from ui.chat import welcome
from ui.lab import lab_page
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/retrieval_lab.py")
frame.name_tab(words.LAB_PAGE)

services = frame.services()
frame.show_title(words.LAB_TITLE, words.LAB_INTRO)
library = welcome.show_library(services)

if library.documents:
    before = lab_page.current_comparison()
    request = lab_page.lab_form(
        before.question if before else "",
        samples=library.has_samples,
        can_rerank=services.lab.can_rerank,
    )
    if request:
        lab_page.compare(services, request)
    comparison = lab_page.current_comparison()
    if comparison:
        lab_page.show_comparison(comparison, services.labels)
    lab_page.show_quality(services.labels)
