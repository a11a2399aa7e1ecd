"""The import page: the sources, and their current and past imports."""

import ui

ui.require_frame("pages/imports.py")

services = ui.services()
ui.show_imports_title(services)
chosen = ui.chosen_source(services)
if chosen:
    ui.show_source(services, chosen)
else:
    ui.add_source(services)
    ui.show_sources(services)
