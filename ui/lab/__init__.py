"""The parts of the retrieval lab."""
