"""Finding passages: dense and keyword rankings, their fusion, and a retriever over them."""
