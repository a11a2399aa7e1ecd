"""Text as readers see it, and Markdown of documents and models made safe to show."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping

from domain.language.script import CJK

_LIVE = re.compile(r"<(?=[a-zA-Z/!?])|(?<=\])[(:]")
"""What an HTML tag, an automatic link, the target of a link or an image, and the definition of a
reference can't do without. A document can make a model write an image whose address contains what
the answer says, so that showing the answer sends it to another server."""

_ESCAPES = {character: f"\\{character}" for character in "<(:"}
_ENTITIES = {character: f"&#{ord(character)};" for character in "<(:"}


def has_live_markup(text: str) -> bool:
    """Whether a client could read part of the text as HTML, a link, or an image."""
    return _LIVE.search(text) is not None


def defuse(text: str, *, before: str = "", after: str = "", is_code: bool = False) -> str:
    """The Markdown text with HTML, links, and images turned into plain text.

    They get a backslash. With `is_code`, the text may or may not be code, in which backslashes have
    another meaning, so the characters become entities.

    Args:
        text: The Markdown, without escaped characters unless it may be code.
        before: The character before it.
        after: The character after it.
        is_code: Whether the text may be code.
    """
    parts, at = [], 0
    for match in _LIVE.finditer(before + text + after):
        position = match.start() - len(before)
        if 0 <= position < len(text):
            character = text[position]
            parts.append(text[at:position] + (_ENTITIES if is_code else _ESCAPES)[character])
            at = position + 1
    return "".join(parts) + text[at:]


_LOOKALIKES = {"[]": ("⟦⟧", "⟬⟭"), "［］": ("〚〛", "〘〙"), "【】": ("〖〗", "⦗⦘")}
"""Look-alikes of each pair of brackets; the first that the passages do not contain is used.

Models get them in place of brackets in passages that could be read as citation markers."""

FORMS: Mapping[str, str] = {
    lookalike: unicodedata.normalize("NFKC", bracket)
    for brackets, pairs in _LOOKALIKES.items()
    for pair in pairs
    for bracket, lookalike in zip(brackets, pair, strict=True)
}
"""Each look-alike with the NFKC form of the bracket that it replaces."""

_LIKE_A_MARKER = re.compile(r"([\[［【]\s*\d(?:[^\[\]［］【】\n]*[\]］】])?)")
_MARKDOWN = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)|<(?=[a-zA-Z/!?])|(?<![^\n])~|~(?=~~)")


def lookalikes(texts: Iterable[str]) -> dict[int, str]:
    """A table for `str.translate` from brackets to look-alikes that none of the texts contains.

    If the texts contain all look-alikes of a bracket, the last one is used anyway.
    """
    characters = set().union(*texts)
    free = (_free(pairs, characters) for pairs in _LOOKALIKES.values())
    return dict(zip(map(ord, "".join(_LOOKALIKES)), "".join(free), strict=True))


def restoration(texts: Iterable[str]) -> dict[int, str]:
    """A table that undoes `neutralize` in a model's answer from these texts.

    Look-alikes that the texts themselves contain are not changed.
    """
    characters = set().union(*texts)
    return str.maketrans(
        {
            lookalike: bracket
            for brackets, pairs in _LOOKALIKES.items()
            for pair in pairs
            if characters.isdisjoint(pair)
            for bracket, lookalike in zip(brackets, pair, strict=True)
        }
    )


def neutralize(text: str, table: Mapping[int, str]) -> str:
    """The text with look-alikes in place of brackets that could be read as a citation marker.

    `[42]` becomes `⟦42⟧`, which is not a marker if a model copies it.
    """
    parts = _LIKE_A_MARKER.split(text)
    return "".join(part.translate(table) if n % 2 else part for n, part in enumerate(parts))


def escape(text: str) -> str:
    """Text of a document escaped for Markdown: its brackets are not markers, links, or HTML."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def _free(pairs: tuple[str, ...], characters: set[str]) -> str:
    return next((pair for pair in pairs if characters.isdisjoint(pair)), pairs[-1])


_HIDDEN = "\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff"
_DASHES = r"\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_URL = r"(?:[^()\s]|\([^()\s]*\)){0,2000}+(?:\s+\"[^\"\n]{0,200}\")?\s*"

# Visible characters that NFKC keeps and that do not combine with the previous one, and characters
# with separate rules below. Everything else is normalized in clusters.
_INERT = (
    r"\x00-\x7f\u00a0\u00c0-\u00ff\u0100-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e"
    r"\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u1680\u2000-\u200a\u2018-\u201f\u2028\u2029\u202f"
    r"\u2025\u2026\u205f\u3000-\u3029\u3030\u3041-\u3096\u309d\u309e\u30a0-\u30fe"
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff5c\uff40\uff3f\uff0a" + _HIDDEN + _DASHES
)
_COMPOSING = r"\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f\uffa0-\uffdc"

_TABLE_RULE = r"(?<![^\n])[ \t]*+[|:-][ \t|:-]*+(?=\n|\Z)"
_BLANK = rf"{_TABLE_RULE}|[\s|｜]|<[bB][rR]\s?/?>"
_LINE_MARK = r"(?<![^\n])[ \t]*+(?:\#{1,6}[ \t]|[-+*•>][ \t]++(?=[^\W\d]|[*_`\"'“‘「\[(]))"
_DECORATION = rf"""
    [{_HIDDEN}`｀]
  | (?<![A-Za-z0-9*＊])[*＊]++(?=\S) | (?<=[^\s*＊])[*＊]++(?![A-Za-z0-9])
  | (?<![_＿])[_＿]++(?!\w) | (?<![\w＿])[_＿]++
  | \\(?=[|`])
  | !?\[(?=(?:[^\[\]\n\\]|\\[^\n]){{0,500}}\]\() | (?<=[^\[])\]\({_URL}\)
"""
_TOKEN = re.compile(
    rf"""
    \\(?P<escaped>[!-/:-@\[-_{{}}~])
  | (?P<gap>(?!(?<=[A-Za-z0-9,.;:)%!?])\x20[A-Za-z0-9(])(?:{_LINE_MARK}|{_BLANK}|{_DECORATION})+)
  | (?P<ellipsis>(?:\.{{3,}}|[…‥])+)
  | (?P<dashes>[{_DASHES}]{{2,}})
  | (?P<cluster>[{_INERT}]?[{_COMPOSING}][^{_INERT}]*|[^{_INERT}]+)
    """,
    re.VERBOSE,
)
_IS_BLANK = re.compile(_BLANK)
_UNSEEN = re.compile(rf"[\s{_HIDDEN}\\]|!?\[|\]\({_URL}\)")
_SOFT_BREAK = re.compile("\u00ad\\s")
_CJK_CHAR = re.compile(f"[{CJK}\u3001-\u303f\u3099\u309a]")
_DASH = re.compile(f"[{_DASHES}]")
# Nested quotation marks change with the outer ones, so all kinds are treated as equal. A backtick
# that is not syntax stands for an apostrophe or a prime: 6`2.
_SAME = str.maketrans(
    dict.fromkeys('"‘’‚‛“”„‟′″＂＇`｀', "'")
    | dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
    | {"『": "「", "』": "」", "〜": "~"}
    # A model receives look-alikes in place of a document's brackets and may quote them.
    | dict(FORMS)
)
_LONGEST_CLUSTER = 32


class VisibleText:
    """A Markdown text in a normal form whose spans can be mapped to the original.

    `form` is in NFKC, and its case is unchanged. White space, line breaks, and table bars become
    one space, or none next to a dash or a Korean, Japanese, or Chinese character, where people and
    PDF files use spaces inconsistently. Zero-width characters, emphasis, backticks, list and
    heading marks, link targets, and backslash escapes are removed. All quotation marks become
    equal, and so do all dashes, and brackets and their look-alikes. `*` and `_` inside a word or
    number are kept: `2*3`, `max_tokens`. So is any mark between two digits, even a backtick,
    because without it they would become another number.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] = []
        self._origins: list[tuple[int, int]] = []
        self._length = 0
        self.form = "".join(self._parts(text))

    def span(self, start: int, end: int) -> tuple[int, int] | None:
        """The span of `form[start:end]` in the text; None if it would split a character."""
        first, last = (bisect_right(self._starts, at) - 1 for at in (start, end - 1))
        begin, finish = self._origins[first][0], self._origins[last][1]
        if self._is_verbatim(first):
            begin += start - self._starts[first]
        elif start != self._starts[first]:
            return None
        if self._is_verbatim(last):
            return begin, self._origins[last][0] + end - self._starts[last]
        return (begin, finish) if end == self._end(last) else None

    def _is_verbatim(self, part: int) -> bool:
        begin, finish = self._origins[part]
        return finish - begin == self._end(part) - self._starts[part]

    def _end(self, part: int) -> int:
        return self._starts[part + 1] if part + 1 < len(self._starts) else self._length

    def _parts(self, text: str) -> list[str]:
        parts: list[str] = []
        at = 0
        for match in _TOKEN.finditer(text):
            self._add(parts, at, match.start(), text[at : match.start()])
            self._add_token(parts, match)
            at = match.end()
        self._add(parts, at, len(text), text[at:])
        return parts

    def _add_token(self, parts: list[str], match: re.Match[str]) -> None:
        start, end = match.span()
        if match["gap"]:
            self._add(parts, start, end, _gap(match))
        elif match["escaped"]:
            self._add(parts, start, end, match["escaped"])
        elif match["cluster"]:
            for begin, finish in _clusters(match.string, start, end):
                self._add(parts, begin, finish, _normal(match.string, begin, finish))
        else:
            self._add(parts, start, end, "..." if match["ellipsis"] else "-")

    def _add(self, parts: list[str], start: int, end: int, form: str) -> None:
        if form:
            parts.append(form.translate(_SAME))
            self._starts.append(self._length)
            self._origins.append((start, end))
            self._length += len(form)


def shown(text: str) -> str:
    """The text as one readable line, without Markdown syntax except bars between table cells.

    `VisibleText(shown(text)).form == VisibleText(text).form`.
    """
    return _TOKEN.sub(_shown_token, text).strip(" |")


def _shown_token(match: re.Match[str]) -> str:
    gap = match["gap"]
    if gap:
        if not _IS_BLANK.search(gap) or _SOFT_BREAK.search(gap):
            return _marks_between_digits(match)
        return " | " if re.search(r"[|｜]", gap) else " "
    return match["escaped"] or match.group()


def _gap(match: re.Match[str]) -> str:
    gap, text = match.group(), match.string
    if not _IS_BLANK.search(gap) or _SOFT_BREAK.search(gap):
        return _marks_between_digits(match)
    if match.start() == 0 or match.end() == len(text):
        return ""
    return "" if any(map(_ignores_space, (text[match.start() - 1], text[match.end()]))) else " "


def _marks_between_digits(match: re.Match[str]) -> str:
    """The visible marks of a gap without white space if it separates two digits, or ""."""
    start, end = match.span()
    around = match.string[max(0, start - 1) : start], match.string[end : end + 1]
    return _UNSEEN.sub("", match["gap"]) if all(map(str.isdecimal, around)) else ""


def _ignores_space(beside: str) -> bool:
    """Whether white space next to the character is insignificant."""
    normal = unicodedata.normalize("NFKC", beside)
    return bool(_DASH.match(beside) or _CJK_CHAR.match(normal))


def _clusters(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans that can be normalized independently of their context."""
    spans = []
    begin = start
    for at in range(start + 1, end + 1):
        if at == end or not _joins(text[begin:at], text[at]):
            spans.append((begin, at))
            begin = at
    return spans


def _joins(cluster: str, following: str) -> bool:
    if len(cluster) >= _LONGEST_CLUSTER:
        return False
    if unicodedata.combining(following):
        return True
    apart = unicodedata.normalize("NFKC", cluster) + unicodedata.normalize("NFKC", following)
    return unicodedata.normalize("NFKC", cluster + following) != apart


def _normal(text: str, start: int, end: int) -> str:
    """NFKC, unless it would change a number: 10² is not 102, and 5½ is not 51/2."""
    cluster = text[start:end]
    normal = unicodedata.normalize("NFKC", cluster)
    if " " in normal:
        return cluster
    if not cluster.isdecimal() and any(map(str.isdecimal, normal)):
        around = text[max(0, start - 1) : start] + text[end : end + 1]
        if any(map(str.isdecimal, around)):
            return cluster
    return normal
