"""The texts of the library page."""
