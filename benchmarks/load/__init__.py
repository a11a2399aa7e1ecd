"""People ask while documents are imported, and a soak that looks for leaks."""
