"""The texts of the import page."""
