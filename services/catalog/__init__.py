"""Catalog search: answers questions about places according to people's preferences.

`catalog_service` is the entry point, and `catalog_question` runs the steps of a question:
`rule_analyzer` or `model_analyzer` extracts filters and aspect weights, `place_search` and
`place_scores` rank the places, and `place_answer` writes the answer from facts and reviews.
`words/` contains word lists and phrases. Imported by `bootstrap`, `api`, `ui`, `commands`, and
`services.evaluation`.
"""
