"""The import page: the sources, and their current and past imports."""

from ui.imports import imports_page, source_form
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/imports.py")
frame.name_tab(words.IMPORT_PAGE)

services = frame.services()
imports_page.show_imports_title(services)
chosen = imports_page.chosen_source(services)
if chosen:
    imports_page.show_source(services, chosen)
else:
    source_form.add_source(services)
    imports_page.show_sources(services)
