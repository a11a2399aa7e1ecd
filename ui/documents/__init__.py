"""The parts of the document page, and highlighted passages."""
