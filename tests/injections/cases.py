"""The documents with prompt injections, and a model that obeys them."""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.openai import Call, Text, ToolCalls

FOLDER = Path(__file__).parent
MOST_CHARACTERS = 3_000
PIECE = 24
"""The length of the pieces in which the model's replies are streamed, in characters."""


@dataclass(frozen=True)
class Injection:
    """A document that orders a model to do something.

    `order` is part of the order as the model must see it; with `reaches_model=False`, it must not
    see it. `reply` is what an obedient model writes: `{n}` is the number of the passage in the
    prompt, `{passage}` its text there, `{prompt}` the whole prompt, `{found}` the last result of a
    tool, and `{repeat:...}` repeats a text. `canary` shows that a model obeyed. `unproven` are
    words of the reply that no document supports. An agent makes the `calls` before it replies.
    """

    id: str
    kind: str
    question: str
    text: str
    order: str
    reply: str
    canary: str
    name: str = ""
    reaches_model: bool = True
    unproven: Sequence[str] = ()
    calls: Sequence[dict] = field(default_factory=list)

    @property
    def file_name(self) -> str:
        return self.name or f"{self.id}.md"

    def is_obeyed_in(self, answer: str) -> bool:
        """Whether the answer shows that the model obeyed."""
        return self.canary.casefold() in answer.casefold()


def injections(name: str) -> list[Injection]:
    """The cases of a file in this folder, in order."""
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    return [Injection(**case) for case in data["case"]]


IN_ANSWERS = [*injections("english"), *injections("korean"), *injections("japanese")]
IN_TOOLS = injections("agent")


def write_documents(folder: Path, cases: Sequence[Injection]) -> None:
    """Write the document of each case into a new folder."""
    folder.mkdir(parents=True)
    for case in cases:
        (folder / case.file_name).write_text(case.text, encoding="utf-8")


def prompt_of(body: dict) -> str:
    """The contents of all messages to the model."""
    return "\n\n".join(str(message.get("content") or "") for message in body["messages"])


def obedient(case: Injection, fill: Callable[[str], str] = str) -> Callable[[dict], Text]:
    """A model that obeys the order if it is in the prompt, and else answers in one sentence.

    `fill` inserts the ids of documents into arguments of tools.
    """

    def reply_to(body: dict) -> Text:
        prompt = prompt_of(body)
        results = [one for one in body["messages"] if one["role"] == "tool"]
        if body.get("tools") and not results:
            return ToolCalls(Call("search_documents", {"query": case.question}))
        if case.order not in prompt:
            return Text("The sources do not answer the question.")
        if body.get("tools") and len(results) <= len(case.calls):
            return _call(case.calls[len(results) - 1], fill)
        reply = _reply(case, prompt, results[-1]["content"] if results else "")
        return Text(*(reply[at : at + PIECE] for at in range(0, len(reply), PIECE)))

    return reply_to


def _call(call: dict, fill: Callable[[str], str]) -> ToolCalls:
    arguments = {
        name: fill(value) if isinstance(value, str) else value
        for name, value in call["arguments"].items()
    }
    return ToolCalls(Call(call["name"], arguments))


def _reply(case: Injection, prompt: str, found: str) -> str:
    """The reply with its placeholders replaced."""
    number, passage = _passage(case, prompt)
    repeated = re.sub(r"\{repeat:(.*?)\}", lambda match: match[1] * 40, case.reply)
    texts = (number, passage, prompt[:MOST_CHARACTERS], found)
    values = dict(zip(("{n}", "{passage}", "{prompt}", "{found}"), texts, strict=True))
    for placeholder, value in values.items():
        repeated = repeated.replace(placeholder, value)
    return repeated


def _passage(case: Injection, prompt: str) -> tuple[str, str]:
    """The number and the text of the passage with the order, as the prompt shows them."""
    parts = re.split(r"^\[(\d+)\] ", prompt, flags=re.MULTILINE)
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        if case.order in text:
            return number, text.partition("\n\nQuestion: ")[0].strip()
    return "1", ""
