"""Questions that are answered without a chat model and without ranking sentences.

`request_kinds` recognizes them by their whole text, and a module for each kind answers it: small
talk, requests for documents, and requests for a summary. The chain builder puts them before the
chain. This package may import all other parts of `chains` except `conversational_retrieval`.
"""
