"""Signing in with OpenID Connect, and the accounts of the people who do."""
