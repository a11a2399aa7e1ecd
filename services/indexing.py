"""What is embedded and searched of a passage."""

from collections.abc import Sequence


def searchable_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """A passage's text below its title and headings, whose words count as its own.

    A heading that repeats the title stands once. The passage that is stored and shown stays
    exact. With any change here, raise `ENTRIES_VERSION` in `storage.indexes`: indexes made
    before it are then to be rebuilt.
    """
    headings = dict.fromkeys(heading for heading in (title, *heading_path) if heading)
    return "\n".join([*headings, text])
