"""Passages in an OpenSearch index: reading, writing, and the bodies of searches.

`opensearch_vector_store` has a public LangChain class; the retrievers that are built on this
package are in `services.search.opensearch_retrievers`. `terms` translates metadata filters, and
`connection` the client's errors. Nothing outside this package and these retrievers imports
opensearchpy.
"""
