"""Rankers, the fusion of ranked lists, and LangChain retrievers over them.

`rankers` work on ids and scores, and also contain the formulas of the fusion. `passage_retrievers`,
`ensemble`, and `rerank` contain the retrievers that services and bootstrap use. Indexes are passed
in, so nothing here imports `storage`.
"""
