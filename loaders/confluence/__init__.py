"""Confluence as a source: Cloud, Server, and Data Center.

`ConfluenceLoader` lists and reads; `ConfluenceClient` sends its requests; `storage_format` converts
pages to Markdown. `services.sources` imports this package inside functions, because it loads
slowly.
"""
