"""The file that readers share: self-contained, and in their language."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser

import pytest

from domain import EXTRACTIVE, Citation, CitationState, Step, StepState, Turn, TurnState
from services.chat.running_answer import OUT_OF_TIME
from services.export.transcript_html import to_html
from tests.services.export.test_transcripts import (
    ANSWERED,
    CONVERSATION,
    INTERRUPTED,
    POLICY,
    TURNS,
)
from ui.chat.citation_view import verdict_html
from ui.text import words
from ui.text.reader_language import LOCALES

HEADINGS = {
    "en": ("Sources", "Also found", "found in the document", "This answer is incomplete."),
    "ko": ("출처", "그 밖에 찾은 구절", "문서에 있음", "이 답변은 완전하지 않습니다."),
    "ja": ("ソース", "ほかに見つかった箇所", "文書に記載あり", "この回答は途中までです。"),
}


def shared(language: str, turns: Sequence[Turn] = TURNS) -> str:
    translate = partial(words.translated_into, language)
    return to_html(CONVERSATION, turns, language=language, translate=translate)


@pytest.mark.parametrize("language", LOCALES)
def test_the_words_of_the_program_are_in_the_readers_language(language: str) -> None:
    html = shared(language)
    assert f'<html lang="{language}">' in html
    for text in HEADINGS[language]:
        assert text in html
    others = {text for other in HEADINGS if other != language for text in HEADINGS[other]}
    visible = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    assert not [text for text in others if f">{text}<" in visible]


@pytest.mark.parametrize("language", ["ko", "ja"])
def test_text_that_equals_a_text_of_the_pages_is_not_translated(language: str) -> None:
    text = "Sources"
    turn = replace(
        ANSWERED,
        question=text,
        answer=f"{text} [1]",
        model=text,
        sources=(replace(POLICY, title=text, heading_path=(text,), page=None, version=""),),
        citations=(Citation(1, CitationState.VERIFIED, text),),
        steps=(Step(1, text, {}, StepState.DONE, text, (), text),),
    )
    html = shared(language, [turn])
    assert f'<p class="where">{text} · https://wiki.example/leave' in html
    assert f'<p class="where">{text}</p>' in html
    assert f"<dd>{text}</dd>" in html
    assert html.count(f">{words.translated_into(language, text)}<") == 1  # the heading


@pytest.mark.parametrize("language", ["ko", "ja"])
def test_the_reason_why_an_answer_is_incomplete_is_translated(language: str) -> None:
    reason = words.translated_into(language, OUT_OF_TIME)
    assert reason != OUT_OF_TIME
    for error in (OUT_OF_TIME, OUT_OF_TIME.template):  # as raised, and as stored
        assert f" {reason}</p>" in shared(language, [replace(INTERRUPTED, error=error)])


NOTHING_FOUND = replace(ANSWERED, answer="I found nothing.", model=EXTRACTIVE, citations=())
FAILED = replace(NOTHING_FOUND, answer="", state=TurnState.FAILED, error="The model failed.")
UNCITED = replace(ANSWERED, citations=(), sources=())


@pytest.mark.parametrize("turn", [ANSWERED, NOTHING_FOUND, FAILED, UNCITED, INTERRUPTED])
def test_the_file_says_the_same_about_the_evidence_as_the_page(turn: Turn) -> None:
    lines = re.findall(r'<(?:summary|p class="fn-verdict[^"]*")>([^<]*)<', verdict_html(turn))
    in_file = re.findall(r'<p class="verdict">([^<]*)<', shared("en", [turn]))
    assert in_file == [" ".join(lines)] * bool(lines)
    assert bool(lines) is (turn not in (FAILED, INTERRUPTED))


def test_the_file_contains_quotes_but_neither_whole_passages_nor_folders() -> None:
    html = shared("en")
    assert "25 days of annual leave</q>" in html
    for source in ANSWERED.sources:
        assert source.text not in html
    assert "/docs/" not in html


class Tags(HTMLParser):
    """The elements of a page, and the values of attributes that name addresses."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src"}]


@pytest.mark.parametrize("language", LOCALES)
def test_the_file_needs_nothing_else(language: str) -> None:
    html = shared(language)
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    tags = Tags(html)
    assert tags.names.isdisjoint({"script", "img", "link", "iframe", "object", "embed", "form"})
    assert all(one.startswith(("#source-", "https://wiki.example/")) for one in tags.addresses)
    assert "url(" not in html
