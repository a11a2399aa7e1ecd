"""What a Confluence site holds."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(eq=False)
class Space:
    number: int
    key: str
    name: str
    type: str = "global"
    is_archived: bool = False
    is_hidden: bool = False


@dataclass(eq=False)
class Content:
    """A page, blog post, comment or attachment; `status` is current, archived or trashed."""

    site: Any
    """The `Site` that holds it."""

    number: int
    type: str
    home: Space | None
    title: str
    storage: str
    parent: str | None
    container: str | None
    author: str
    created: datetime
    modified: datetime
    editor: str
    version: int = 1
    status: str = "current"
    labels: list[str] = field(default_factory=list)
    is_restricted: bool = False
    has_body: bool = True
    data: bytes = b""
    media_type: str = ""

    @property
    def id(self) -> str:
        return f"att{self.number}" if self.type == "attachment" else str(self.number)

    @property
    def space(self) -> Space:
        return self.home or self.site.contents[self.container].space

    def ancestors(self) -> list["Content"]:
        """The topmost first, the parent last."""
        above, content = [], self
        while content.parent:
            content = self.site.contents[content.parent]
            above.append(content)
        return above[::-1]


@dataclass(frozen=True)
class Visible:
    """What an importer ought to have of a page."""

    version: int
    title: str
    ancestors: tuple[str, ...]
    space: str
    text: str
    labels: tuple[str, ...]
