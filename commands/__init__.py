"""Commands that are more than a call of a service, each in a file of its own."""
