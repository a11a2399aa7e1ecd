"""Measures search and answers: labeled sets, people's labels and ratings, and metrics.

It uses the same parts as the product and therefore imports the chat, search, and catalog services,
and the indexed text from `services.imports`. Imported by `api`, `ui`, `commands`, and `bootstrap`.
"""
