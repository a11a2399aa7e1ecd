"""Catalogues of places that do not exist, to try Footnote's catalogue search with."""
