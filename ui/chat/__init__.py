"""The parts of the chat page."""
