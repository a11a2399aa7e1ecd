"""Factories for embeddings and chat models; a slow library is imported only where it is used."""
