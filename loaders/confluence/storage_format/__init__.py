"""Converts Confluence's storage format to Markdown (`to_markdown`), with links by `Links`.

Only `loaders.confluence` imports this package.
"""

from loaders.confluence.storage_format.conversion import to_markdown
from loaders.confluence.storage_format.links import Links

__all__ = ["Links", "to_markdown"]
