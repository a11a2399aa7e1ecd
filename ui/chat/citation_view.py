"""The sources below an answer: the cited passages, the results of the check, and locations."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from domain import (
    Citation,
    CitationState,
    Explanation,
    Filter,
    Move,
    RetrievedPassage,
    ScorePart,
    Turn,
)
from services.export.answer_text import CitationCounts, count_citations, offers_nearest
from ui.documents.document_page import age_html
from ui.documents.highlight import (
    Span,
    excerpt_html,
    link_html,
    marked_html,
    original_html,
    source_address,
)
from ui.shared.safe_html import escape, lang
from ui.text import words

if TYPE_CHECKING:
    from services.library.reader_service import Freshness


SYNTAX = re.compile(r"^#{1,6} .*$|\*\*|^[|: -]+$", re.MULTILINE)
CJK = re.compile("[가-힣ぁ-ヿ一-鿿]")
SNIPPET, LEAD = 180, 40  # length in characters, and how many precede the first matched word


def explanation_html(explanation: Explanation) -> str:
    """HTML with the rank, score, and share per list, the reranking, matched words, and filter."""
    return (
        f'<div class="fn-why">{_lists(explanation)}{_move(explanation.move)}'
        f"{_words(explanation.matched_words)}{_filter(explanation.condition)}</div>"
    )


def passage_html(text: str, matched: Sequence[str]) -> str:
    """The whole passage with the matched words marked."""
    marked = marked_html(text, matched_spans(text, matched))
    return f'<div class="fn-passage"{lang(text)}>{marked}</div>'


def snippet_html(text: str, matched: Sequence[str]) -> str:
    """The part of the passage with the most matched words, without headings and emphasis marks."""
    text = SYNTAX.sub("", text).strip() or text
    spans = matched_spans(text, matched)
    start = _densest(text, spans)
    stop = min(start + SNIPPET, len(text))
    inside = [(a - start, b - start) for a, b in spans if start <= a and b <= stop]
    before, after = "… " if start else "", " …" if stop < len(text) else ""
    marked = marked_html(text[start:stop], inside)
    return f'<div class="fn-snippet"{lang(text)}>{before}{marked}{after}</div>'


def _densest(text: str, spans: Sequence[Span]) -> int:
    """The start of the snippet: shortly before the matched word that most others closely follow."""
    if len(text) <= SNIPPET or not spans:
        return 0
    room = SNIPPET - LEAD
    first = max(spans, key=lambda one: sum(one[0] <= other[0] < one[0] + room for other in spans))
    start = max(0, first[0] - LEAD)
    space = text.find(" ", start, first[0])
    return start if start == 0 or space < 0 else space + 1


def matched_spans(text: str, matched: Sequence[str]) -> list[Span]:
    """The spans of the words in the text, ignoring case; only CJK ones match in longer words."""
    if not matched:
        return []
    longest_first = sorted(matched, key=len, reverse=True)
    pattern = "|".join(map(_pattern, longest_first))
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _pattern(word: str) -> str:
    return re.escape(word) if CJK.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)"


def _lists(explanation: Explanation) -> str:
    heads = (words.LIST, words.RANK, words.SCORE, words.SHARE)
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join(_list(part, explanation.score) for part in explanation.parts)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _list(part: ScorePart, total: float) -> str:
    name = words.RANKERS.get(part.ranker, part.ranker)
    rank = words.NOT_IN_LIST if part.rank is None else str(part.rank)
    score = "" if part.score is None else f"{part.score:.3f}"
    return (
        f"<tr><td>{escape(name)}</td><td>{escape(rank)}</td><td>{score}</td>"
        f"<td>{_bar(part.share, total)}</td></tr>"
    )


def _bar(share: float, total: float) -> str:
    """The share as a number, and as a bar relative to the total score."""
    percent = min(max(100 * share / total, 0), 100) if total > 0 else 0
    return (
        f'<span class="fn-share"><span class="fn-bar"><span style="width:{percent:.0f}%"></span>'
        f"</span>{share:.3f}</span>"
    )


def _move(move: Move | None) -> str:
    if move is None:
        return ""
    if move.skipped:
        return _line(
            words.RERANK, words.RERANK_SKIPPED.format(reason=words.translated(move.skipped))
        )
    text = words.RERANK_SAME if move.rank == move.rank_before else words.RERANK_MOVED
    return _line(
        words.RERANK,
        text.format(before=move.rank_before, after=move.rank, score=f"{move.score or 0:.3f}"),
    )


def _words(matched: Sequence[str]) -> str:
    if not matched:
        return _line(words.MATCHED_WORDS, words.NO_MATCHED_WORDS)
    once = {word.casefold(): word for word in reversed(matched)}.values()
    chips = " ".join(f"<mark{lang(word)}>{escape(word)}</mark>" for word in reversed(once))
    return f"<p><strong>{escape(words.MATCHED_WORDS)}</strong> {chips}</p>"


def _filter(condition: Filter) -> str:
    conditions = [f"{field} {_condition(value)}" for field, value in condition.items()]
    return _line(words.FILTER, " · ".join(conditions) or words.NO_FILTER)


def _condition(value: Any) -> str:
    """A condition of the filter as text: `= md`, `in md, pdf` or `>= 2026-01-01`."""
    if not isinstance(value, Mapping):
        return f"= {value}"
    return " ".join(f"{words.OPERATORS.get(name, name)} {_plain(of)}" for name, of in value.items())


def _plain(value: Any) -> str:
    listed = isinstance(value, Sequence | set | frozenset) and not isinstance(value, str)
    return ", ".join(map(str, value)) if listed else str(value)


def _line(label: str, text: str) -> str:
    return f"<p><strong>{escape(label)}</strong> {escape(text)}</p>"


MAX_NEAREST = 3
"""The number of passages shown if none answers the question."""


def citation_marker(turn: Turn) -> Callable[[int], str]:
    """HTML for the answer's markers: links to the cited passages, flagged if the check failed.

    The first marker with a number belongs to the first citation with that number, and so on. A
    number without a citation remains text.
    """
    waiting = {n: _with_number(turn, n) for n in {citation.n for citation in turn.citations}}
    sources = {source.n: source for source in turn.sources}

    def marker(n: int) -> str:
        citations = waiting.get(n, [])
        citation = citations.pop(0) if len(citations) > 1 else next(iter(citations), None)
        if citation is None:
            return ""
        if n not in sources:
            return _flag(n, citation.state)
        return _link(turn, sources[n], citation)

    return marker


def plain_marker(sources: Sequence[RetrievedPassage]) -> Callable[[int], str]:
    """HTML for markers while the answer is being written and its citations are unchecked."""
    numbers = {source.n for source in sources}
    return lambda n: f'<span class="fn-cite">{n}</span>' if n in numbers else ""


def _link(turn: Turn, source: RetrievedPassage, citation: Citation) -> str:
    label = words.SOURCE_LINK.format(n=source.n, title=source.title)
    verified = citation.state is CitationState.VERIFIED
    flag = "" if verified else f" ⚠ {words.STATES[citation.state]}"
    return link_html(
        source_address(turn, source, citation),
        f"{source.n}{escape(flag)}",
        kind="fn-cite" if verified else "fn-cite fn-bad",
        label=label + flag,
    )


def _flag(n: int, state: CitationState) -> str:
    return f'<span class="fn-cite fn-bad">{n} ⚠ {escape(words.STATES[state])}</span>'


def _with_number(turn: Turn, n: int) -> list[Citation]:
    return [citation for citation in turn.citations if citation.n == n]


def evidence_html(turn: Turn, freshness: "Mapping[str, Freshness] | None" = None) -> str:
    """A short result of the check, the cited sources, and the other sources, collapsed.

    If the built-in answerer found no answer, the nearest passages are expanded instead.

    `freshness` describes the stored version by document id and lacks removed documents. Without
    it, the age of the sources is not shown.
    """
    html = verdict_html(turn) + sources_html(turn, freshness)
    return f'<section class="fn-sources" aria-label="{words.SOURCES}">{html}</section>'


def sources_html(turn: Turn, freshness: "Mapping[str, Freshness] | None" = None) -> str:
    """Only the sources of `evidence_html`."""
    cited_numbers = {citation.n for citation in turn.citations}
    cards = [_card(turn, source, freshness) for source in turn.sources if source.n in cited_numbers]
    others = [
        _card(turn, source, freshness) for source in turn.sources if source.n not in cited_numbers
    ]
    if offers_nearest(turn):
        cards, others = others[:MAX_NEAREST], others[MAX_NEAREST:]
    invented = sorted(cited_numbers - {source.n for source in turn.sources})
    return "".join([*map(_invented, invented), *cards, _folded(others)])


def verdict_html(turn: Turn) -> str:
    """The result of the citation check, expandable to an explanation, followed by warnings."""
    counts = count_citations(turn.citations)
    if offers_nearest(turn):
        return _verdict_line("fn-nearest", words.NEAREST_PASSAGES)
    if not turn.citations:
        return _verdict_line("fn-doubt", words.NO_CITATION) if turn.answer and turn.sources else ""
    html = _verified_html(counts)
    if counts.unsupported:
        html += _verdict_line(
            "fn-doubt", words.count(words.CITATIONS_UNSUPPORTED, counts.unsupported)
        )
    if turn.unsupported_sentences:
        html += _verdict_line(
            "fn-doubt", words.count(words.UNSUPPORTED, turn.unsupported_sentences)
        )
    return html


def _verified_html(counts: CitationCounts) -> str:
    """How many quotes were found, worded neutrally: a verified quote does not prove the answer."""
    verified, missing, matched, _ = counts
    parts = [
        words.count(words.QUOTES_FOUND, verified) if verified and not missing else "",
        _missing(verified, missing) if missing else "",
        words.count(words.SENTENCES_MATCHED, matched) if matched else "",
    ]
    line = escape(" · ".join(filter(None, parts)))
    if not line:
        return ""
    kind, meaning = ("doubt" if missing else "quoted"), words.QUOTES_MEAN
    if not verified and not missing:
        meaning = words.MATCHES_MEAN
    return (
        f'<details class="fn-verdict fn-{kind}"><summary>{line}</summary>'
        f"<p>{escape(meaning)}</p></details>"
    )


def _missing(verified: int, missing: int) -> str:
    return str(
        words.QUOTES_MISSING.format(found=verified, missing=missing, total=verified + missing)
    )


def _verdict_line(kind: str, text: str) -> str:
    return f'<p class="fn-verdict {kind}">{escape(text)}</p>'


def _invented(n: int) -> str:
    return _verdict_line("fn-doubt", words.NO_SUCH_SOURCE.format(n=n))


def _folded(cards: Sequence[str]) -> str:
    if not cards:
        return ""
    summary = words.MORE_SOURCES.format(n=len(cards))
    return f'<details class="fn-more"><summary>{summary}</summary>{"".join(cards)}</details>'


def _card(turn: Turn, source: RetrievedPassage, freshness: "Mapping[str, Freshness] | None") -> str:
    citations = _with_number(turn, source.n)
    verified = [one for one in citations if one.state is CitationState.VERIFIED]
    spans = {one: _span_in(source, one) for one in verified}
    passage = excerpt_html(source.text, [span for span in spans.values() if span])
    elsewhere = dict.fromkeys(one.quote for one, span in spans.items() if span is None)
    return (
        '<article class="fn-source">'
        f'<header><span class="fn-n">{source.n}</span>{_title(turn, source, citations)}</header>'
        f'<div class="fn-where">{where_html(source)}</div>{_age(source, freshness)}'
        f"{''.join(map(_elsewhere, elsewhere))}"
        f"{_whole_passage(passage)}"
        f'<div class="fn-passage"{lang(source.text)}>{passage}</div>{_checks(citations)}'
        f"{_why(source)}"
        "</article>"
    )


def _why(source: RetrievedPassage) -> str:
    if source.why is None:
        return ""
    html = explanation_html(source.why)
    return f'<details class="fn-found"><summary>{words.WHY}</summary>{html}</details>'


def _span_in(source: RetrievedPassage, citation: Citation) -> Span | None:
    """The part of the quote within the passage, as a span of the passage; None if there is none.

    The offsets of the citation and of the source count from the start of the document.
    """
    start, end = citation.start - source.start, citation.end - source.start
    begin, stop = max(start, 0), min(end, len(source.text))
    if begin < stop and source.text[begin:stop] == citation.quote[begin - start : stop - start]:
        return begin, stop
    return None


def _elsewhere(quote: str) -> str:
    """A quote that the document contains outside this passage."""
    return (
        f'<div class="fn-elsewhere">{escape(words.ELSEWHERE)}'
        f" <mark{lang(quote)}>{escape(quote)}</mark></div>"
    )


def _whole_passage(passage: str) -> str:
    """The switch that expands the collapsed parts of the passage below it."""
    if "fn-far" not in passage:
        return ""
    return f'<details class="fn-whole"><summary>{words.WHOLE_PASSAGE}</summary></details>'


def _checks(citations: Sequence[Citation]) -> str:
    """The results of the checks, with equal results merged and counted."""
    return "".join(
        f'<div class="fn-checked">{check}{f" ({n})" if n > 1 else ""}</div>'
        for check, n in Counter(map(_check, citations)).items()
    )


def _title(turn: Turn, source: RetrievedPassage, citations: Sequence[Citation]) -> str:
    title = source.name
    label = words.OPEN_AT_PASSAGE.format(title=title)
    address = source_address(turn, source, next(iter(citations), None))
    return link_html(address, escape(title), kind="fn-title", label=label)


def _age(source: RetrievedPassage, freshness: "Mapping[str, Freshness] | None") -> str:
    if freshness is None:
        return ""
    age = age_html(source.version, freshness.get(source.document_id))
    return f'<div class="fn-where fn-age">{age}</div>'


def where_html(source: RetrievedPassage) -> str:
    """The heading path, the page, and the original's location, a link if it is on the web."""
    page = words.PAGE.format(page=source.page) if source.page else ""
    heading = " › ".join(source.heading_path)
    parts = [escape(part) for part in (heading, page) if part]
    return "".join(f"<span>{part}</span>" for part in [*parts, original_html(source.location)])


def _check(citation: Citation) -> str:
    badge = _badge(citation.state)
    if citation.state is CitationState.VERIFIED:
        return badge + escape(words.QUOTED if citation.quoted_by_answer else words.MATCHED)
    return badge + (
        _claim(words.NOT_IN_SOURCE, citation.quote) if citation.quote else words.NO_QUOTE
    )


def _badge(state: CitationState) -> str:
    kind = "fn-quote" if state is CitationState.VERIFIED else "fn-bad"
    return f'<span class="fn-badge {kind}">{escape(words.STATES[state])}</span>'


def _claim(sentence: str, quote: str) -> str:
    return f"{escape(sentence)} <q{lang(quote)}>{escape(quote)}</q>"
