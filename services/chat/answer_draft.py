"""An answer that is being written, in text or JSON, and the check of its citations and format."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from chains.citations.answer_check import AnswerCheck, CheckedAnswer, check_answer
from chains.citations.answer_reader import WrittenAnswer
from chains.citations.markers import plain_text
from domain import CitationState, RetrievedPassage
from domain.errors import ModelError
from domain.messages import _
from services.chat.json_schema import violation_of
from services.events import CitationVerified, Event, TextDelta

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation

TextOf = Callable[[str], str | None]
"""Returns the stored text of a document, or None if it was removed."""


class AnswerDraft:
    """Adds an answer piece by piece; each method yields the events of what it adds."""

    def __init__(self, passages: Sequence[RetrievedPassage], text_of: TextOf) -> None:
        """Start an answer about these passages; see `AnswerCheck`."""
        self._answer = WrittenAnswer(passages)
        self._check = AnswerCheck(passages, text_of)
        self._checked_pieces = 0

    def write(self, text: str, citations: "Sequence[Citation] | None") -> Iterator[Event]:
        """Add text; see `WrittenAnswer.read`."""
        return self._events(self._answer.read(text, citations))

    def close(self) -> Iterator[Event]:
        """Add the text that was held back, and check the citations without a quote."""
        yield from self._events(self._answer.close())
        checked = self._check.result
        for marker, index in enumerate(checked.marks):
            citation = checked.citations[index]
            if citation.state is CitationState.VERIFIED and not citation.quoted_by_answer:
                yield CitationVerified(citation, marker)

    def plain_text(self) -> str:
        """The text so far, without Markdown escapes."""
        self._answer.close()
        return plain_text(self._answer.pieces)

    def check(self) -> CheckedAnswer:
        """The checked answer; nothing can be added to it anymore."""
        list(self.close())
        return self._check.result

    def _events(self, shown: str) -> Iterator[Event]:
        if shown:
            yield TextDelta(shown)
        new = self._answer.pieces[self._checked_pieces :]
        self._checked_pieces += len(new)
        for marker, citation in self._check.read(new):
            yield CitationVerified(citation, marker)


_SHOWN_CHARS = 100


class JsonDraft(AnswerDraft):
    """An answer in JSON, whose text stays as the model wrote it.

    The citations in its strings are checked like those of a text, when it is complete.
    """

    def __init__(self, passages: Sequence[RetrievedPassage], text_of: TextOf) -> None:
        """Start an answer about these passages."""
        super().__init__(passages, text_of)
        self._passages = passages
        self._text_of = text_of
        self._json = ""

    def write(
        self,
        text: str,
        citations: "Sequence[Citation] | None",  # noqa: ARG002  # same arguments
    ) -> Iterator[Event]:
        """Add text."""
        self._json += text
        yield TextDelta(text)

    def close(self) -> Iterator[Event]:
        """Nothing: no text is held back."""
        yield from ()

    def check(self) -> CheckedAnswer:
        """The JSON with the checked citations of its strings; none if it is invalid."""
        strings = "\n\n".join(_strings(_parsed(self._json)))
        checked = check_answer(strings, self._passages, self._text_of)
        return replace(checked, text=self._json, marks=())


def require_format(answer: str, response_format: Mapping[str, Any]) -> None:
    """Check that the answer has the requested format, which is OpenAI's `response_format`.

    Raises:
        ModelError: The answer is not JSON, or does not match the schema.
    """
    value = _parsed(answer)
    if isinstance(value, _Invalid):
        problem = f"it is not valid JSON ({value})"
    elif response_format["type"] == "json_object":
        problem = "" if isinstance(value, dict) else "it is not a JSON object"
    else:
        problem = violation_of(response_format["json_schema"].get("schema") or {}, value)
    if problem:
        raise ModelError(
            _(
                "The model's answer does not have the requested format: {problem}. Ask again,"
                " reword the question, or set another model in FOOTNOTE_CHAT_MODEL."
            ).format(problem=problem)
        )


class _Invalid(str):
    """Why a text is not JSON."""

    __slots__ = ()


def _parsed(text: str) -> Any:
    """The JSON value of the text, or `_Invalid`."""
    try:
        return json.loads(text, parse_constant=_reject, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        return _Invalid(error)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; a duplicate name is rejected, because other parsers may use its first value."""
    found = dict(members)
    if len(found) < len(members):
        [(name, _count)] = Counter(name for name, _value in members).most_common(1)
        raise ValueError(f"an object has several members {name[:_SHOWN_CHARS]!r}")
    return found


def _strings(value: Any) -> Iterator[str]:
    """The strings in a JSON value, without the names of its members."""
    if isinstance(value, str) and not isinstance(value, _Invalid):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)
