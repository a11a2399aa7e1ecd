"""Answers questions in conversations, streams the answers, and stores the turns.

`ChatService` is the entry point. `ChainBuilder` builds the chain for a question, and
`RunningAnswer` turns its pieces into events and a stored turn. All interfaces, the agent, the
catalog, and the evaluation may import this package. Everything needed to open a page must load
without LangChain.
"""
