"""Sample documents, catalogs and questions: what a first start imports and evaluations ask."""
