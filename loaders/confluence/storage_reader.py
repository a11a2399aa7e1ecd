"""Converts pages in storage format in the reader process, which asks this one about links."""

from typing import TYPE_CHECKING, Any

from loaders import document_reader

if TYPE_CHECKING:
    from loaders.confluence.storage_format import Links

QUESTIONS = frozenset({"page", "blog_post", "content", "attachment", "space", "user"})
"""The methods of `Links`."""


def read_storage(storage: str, links: "Links") -> str:
    """Convert like `loaders.confluence.storage_format.to_markdown`, in a process with limits.

    Raises:
        UnreadableError: The page exceeds a limit, or can't be converted. `links` may raise other
            errors.
    """

    def answer(method: str, arguments: list[Any]) -> str:
        if method not in QUESTIONS or not all(isinstance(one, str | None) for one in arguments):
            raise ValueError(method)
        target: str = getattr(links, method)(*arguments)
        return target

    reader = document_reader.DOCUMENTS
    body = storage.encode("utf-8", "surrogatepass")
    _result, text = reader.call("read_storage", {}, body, answer)
    try:
        return text.decode("utf-8", "surrogatepass")
    except ValueError as error:
        raise reader.invalid_reply() from error
