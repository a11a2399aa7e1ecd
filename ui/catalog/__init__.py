"""The places page: the form, the streamed answer, the map, and the cards.

`catalog_page` selects the catalog, `catalog_form` takes the question, and `catalog_search_view`
shows the results with the cards from `place_cards` and the map from `place_map`. Imported by `ui`
and `pages`.
"""
