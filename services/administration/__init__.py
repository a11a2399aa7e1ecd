"""What administrators see about people, groups, and readers."""
