"""Exports answers and conversations as text, Markdown, HTML, and JSON, and imports JSON.

`answer_text` loads quickly and is used wherever an answer is shown. The transcript modules are
imported only when a conversation is exported. Imported by `api`, `ui`, `commands`, and the chat and
agent services.
"""
