"""Confluence as a source, Cloud and Server or Data Center alike."""
