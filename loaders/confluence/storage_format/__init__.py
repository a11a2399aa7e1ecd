"""Confluence's storage format as Markdown: `to_markdown`, and the `Links` it asks."""

from loaders.confluence.storage_format.conversion import to_markdown
from loaders.confluence.storage_format.links import Links

__all__ = ["Links", "to_markdown"]
