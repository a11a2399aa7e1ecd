"""A conversation as a self-contained HTML file for reading or printing."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from domain import Conversation, Turn, is_on_web, public_location
from domain.language.script import script_of
from domain.messages import Message, _
from services.export import transcript_facts
from services.export.answer_text import MEANING, describe
from services.export.safe_markdown import markdown_to_html

_HEADINGS = {
    "untitled": _("Conversation"),
    "about": _(
        "A copy of a conversation in Footnote. It stays as it is, even if the documents change."
    ),
    "searched": _("Searched for:"),
    "steps": _("Steps"),
    "sources": _("Sources"),
    "others": _("Also found"),
}
_LANGUAGES = {"korean": ' lang="ko"', "japanese": ' lang="ja"', "chinese": ' lang="zh"'}


def to_html(
    conversation: Conversation,
    turns: Sequence[Turn],
    *,
    language: str = "en",
    translate: Callable[[str], str] = str,
) -> str:
    """Render each turn in order: question, search or steps, answer, sources, and settings.

    Text from documents and people is escaped. The file contains no script, and opening it fetches
    nothing.

    Args:
        conversation: Its title and the time of its start are shown.
        turns: The turns to show.
        language: The language of the program's own words, for the `lang` attribute.
        translate: Returns a message in that language.
    """
    title = " ".join(conversation.title.split()) or translate(_HEADINGS["untitled"])
    return _template().render(
        conversation=conversation,
        title=title,
        turns=turns,
        language=language,
        translate=translate,
        headings={name: translate(text) for name, text in _HEADINGS.items()},
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters.update(lang=_lang, describe=describe, translated=_translate)
    environment.globals.update(
        meaning=MEANING,
        answer_html=_answer_html,
        facts=transcript_facts.facts,
        place=transcript_facts.place,
        public_location=public_location,
        is_on_web=is_on_web,
        state_of=transcript_facts.state_of,
        step_texts=transcript_facts.step_texts,
        verdict=transcript_facts.verdict,
        when=transcript_facts.when,
    )
    return environment.get_template("transcript.html.j2")


def _answer_html(n: int, turn: Turn) -> Markup:
    numbers = {source.n for source in turn.sources}

    def marker(number: int) -> str:
        return f'<a href="#source-{n}-{number}">[{number}]</a>' if number in numbers else ""

    return Markup(markdown_to_html(turn.answer, marker, heading=3))  # noqa: S704  # it is escaped


@pass_context
def _translate(context: Context, text: str) -> str:
    """A message in the language of the file; other text may be from a document, and stays."""
    return str(context["translate"](text)) if isinstance(text, Message) else text


def _lang(text: str) -> Markup:
    return Markup(_LANGUAGES.get(script_of(text), ""))  # noqa: S704  # ours
