"""Requests as each server takes them, and pieces of streamed answers as they came."""

from collections.abc import Iterator, Mapping
from typing import Any

from openai import BadRequestError, Stream
from openai.resources.chat import AsyncCompletions, Completions

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
        try:
            return self._create(payload)
        except BadRequestError as error:
            return self._create(_renamed(payload, error))

    def _create(self, payload: dict[str, Any]) -> Any:
        if not payload.get("stream") or payload.keys() & _LEFT_TO_THE_CLIENT:
            return super().create(**payload)
        return self._client.post(
            "/chat/completions", cast_to=object, body=payload, stream=True, stream_cls=_Pieces
        )


class RenamingCompletions(AsyncCompletions):
    """Chat completions, asked once more where the server has another name for the length."""

    async def create(self, **payload: Any) -> Any:
        """What the client returns."""
        try:
            return await super().create(**payload)
        except BadRequestError as error:
            return await super().create(**_renamed(payload, error))


def _renamed(payload: Mapping[str, Any], error: BadRequestError) -> dict[str, Any]:
    """The payload with the newer name of max_tokens, where the error asks for that; else raises.

    A gateway may hand the request on to a model of OpenAI that refuses the older name.
    """
    if "max_tokens" not in payload or "max_completion_tokens" not in error.message:
        raise error
    kept = {name: value for name, value in payload.items() if name != "max_tokens"}
    return kept | {"max_completion_tokens": payload["max_tokens"]}


class _Pieces(Stream[object]):
    def __stream__(self) -> Iterator[object]:
        for piece in super().__stream__():
            if isinstance(piece, dict):
                for choice in piece.get("choices") or ():
                    choice.setdefault("delta", None)  # as the client does; LangChain insists on it
            yield piece
