"""Rewrites follow-up questions as standalone questions, with a chat model or by rules.

`condense` has both condensers, and asks a model for other wordings. `follow_ups` finds the
meaningful words of questions, recognizes questions that depend on the conversation, and finds the
terms that they omit. This package may import `chat_prompts` and `history`.
"""
