"""Scripts, sentences, tokens, and spelling of English, Korean, and Japanese text.

Splitting, search, answering, and models import this package, so they agree on scripts, sentence
ends, and tokens. The package imports no other part of Footnote.
"""
