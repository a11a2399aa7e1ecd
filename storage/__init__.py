"""Everything on disk: the ledger in SQL, passages in Deep Lake, keywords in tantivy, uploads.

The ledger is authoritative; both indexes are derived from it. Services and bootstrap import this
package, which imports only `domain` and `errors` and hides SQLAlchemy, Deep Lake, and tantivy from
all other packages.
"""
