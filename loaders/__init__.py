"""Sources of documents: what lists them, reads them and splits them."""
