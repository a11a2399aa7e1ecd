"""Backups of a library that is in use, on request and on a schedule."""
