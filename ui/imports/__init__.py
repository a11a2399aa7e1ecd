"""The parts of the import page."""
