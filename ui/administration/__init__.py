"""The parts of the administration page."""
