"""The pieces of a streamed answer as they came, without the client's objects made of them."""

from collections.abc import Iterator
from typing import Any

from openai import Stream
from openai.resources.chat import Completions

_LEFT_TO_THE_CLIENT = {"tools", "extra_body", "extra_headers", "extra_query", "timeout"}


class PlainCompletions(Completions):
    """Chat completions whose streams are mappings, which LangChain's model makes of them anyway.

    Objects in between took a quarter of all that an answer over the API costs
    (`python -m benchmarks --only api`).
    """

    def create(self, **payload: Any) -> Any:
        """What the client returns; a stream of mappings where no tools are bound.

        Calls of tools keep the client's objects: it fills in what some servers leave out of them.
        """
        if not payload.get("stream") or payload.keys() & _LEFT_TO_THE_CLIENT:
            return super().create(**payload)
        return self._client.post(
            "/chat/completions", cast_to=object, body=payload, stream=True, stream_cls=_Pieces
        )


class _Pieces(Stream[object]):
    def __stream__(self) -> Iterator[object]:
        for piece in super().__stream__():
            if isinstance(piece, dict):
                for choice in piece.get("choices") or ():
                    choice.setdefault("delta", None)  # as the client does; LangChain insists on it
            yield piece
