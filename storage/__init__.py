"""What is kept on disk: the ledger in SQL, passages in Deep Lake, words in tantivy."""
