"""Everything stored: the ledger in SQL, indexes in Deep Lake and tantivy or OpenSearch, uploads.

The ledger is authoritative; the index is derived from it. Services and bootstrap import this
package, which imports only `domain` and hides SQLAlchemy, Deep Lake, tantivy, and
OpenSearch from all other packages.
"""
