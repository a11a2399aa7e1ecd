"""The file that readers share: self-contained, and in their language."""

import re
from functools import partial
from html.parser import HTMLParser

import pytest

from services.export.transcript_html import to_html
from tests.services.export.test_transcripts import CONVERSATION, TURNS
from ui.text import words
from ui.text.reader_language import LOCALES

HEADINGS = {
    "en": ("Sources", "Also found", "found in the document", "This answer is incomplete."),
    "ko": ("출처", "그 밖에 찾은 구절", "문서에 있음", "이 답변은 완전하지 않습니다."),
    "ja": ("ソース", "ほかに見つかった箇所", "文書に記載あり", "この回答は途中までです。"),
}


def shared(language: str) -> str:
    translate = partial(words.translated_into, language)
    return to_html(CONVERSATION, TURNS, language=language, translate=translate)


@pytest.mark.parametrize("language", LOCALES)
def test_the_words_of_the_program_are_in_the_readers_language(language: str) -> None:
    html = shared(language)
    assert f'<html lang="{language}">' in html
    for text in HEADINGS[language]:
        assert text in html
    others = {text for other in HEADINGS if other != language for text in HEADINGS[other]}
    visible = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    assert not [text for text in others if f">{text}<" in visible]


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
