"""What the API takes and gives, as models of its description."""
