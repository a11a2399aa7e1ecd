"""The texts of the pages, their translations, and the reader's language."""
