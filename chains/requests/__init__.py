"""Questions that are answered without a chat model and without ranking sentences.

Each module recognizes one kind by the whole text and answers it: small talk, requests for
documents, requests for a summary, and single words. The chain builder puts them before the chain.
This package may import all other parts of `chains` except `conversational_retrieval`.
"""
