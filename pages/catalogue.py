"""The places page: answers questions about a catalog for the person who asks."""

from ui.catalog import catalog_form, catalog_page, catalog_search_view
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/catalogue.py")
frame.name_tab(words.PLACES_PAGE)

services = frame.services()
frame.show_title(words.PLACES_TITLE, words.PLACES_INTRO)
catalog = catalog_page.selected_catalog(services)

if catalog:
    request = catalog_form.places_form(services, catalog)
    catalog_search_view.show_places(services, catalog, request)
