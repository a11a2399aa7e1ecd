"""The built-in answerer, which quotes sentences that answer a question, without a chat model.

`extractive_answerer` selects among the sentences that `sentence_scores` ranks. `quoted_units`
determines what is quoted with each, and `answer_decision` whether there is an answer at all. This
package may import `condensing` and `citations`.
"""
