"""Turns a question and retrieved passages into an answer with checked citations.

`conversational_retrieval` has the chain, and `model_answer` the answers of a chat model. The
subpackages are `condensing` (standalone questions), `citations` (markers and quotes), `extractive`
(answers without a model), and `requests` (greetings, summaries, and other questions that need no
model). Services, the agent, and bootstrap import them; they import only `domain`.
"""
