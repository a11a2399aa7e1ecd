"""The built-in answerer, which quotes sentences that answer a question, without a chat model.

`extractive_answerer` selects among the sentences that `sentence_scores` ranks. `quoted_units`
extends each quote to a readable unit, and `answer_decision` decides whether there is an answer at
all. This package may import `condensing` and `citations`.
"""
