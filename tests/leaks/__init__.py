"""Random users, groups, restrictions, and questions: nothing hidden appears through any face."""
