"""The keyword index: BM25 by tantivy over the tokens of `domain.language`.

Other packages import `keyword_index`; `segment_files` checks the index files.
"""
