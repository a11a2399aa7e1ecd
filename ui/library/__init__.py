"""The parts of the library page."""
