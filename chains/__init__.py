"""Condensing a follow-up, answering from passages, and checking what the answer cites."""
