"""The parts of the settings page."""
