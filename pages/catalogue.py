"""Places: a question about a catalogue, answered for the person who asks."""

import ui

ui.require_frame("pages/catalogue.py")

services = ui.services()
ui.show_places_title()
catalogue = ui.chosen_catalogue(services)

if catalogue:
    asked = ui.places_form(services, catalogue)
    ui.show_places(services, catalogue, asked)
