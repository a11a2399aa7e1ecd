"""The places page: answers questions about a catalog for the person who asks."""

import ui

ui.require_frame("pages/catalogue.py")

services = ui.services()
ui.show_places_title()
catalog = ui.selected_catalog(services)

if catalog:
    request = ui.places_form(services, catalog)
    ui.show_places(services, catalog, request)
