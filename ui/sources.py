"""The sources below an answer: what was cited, whether it was found, and where it stands."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from domain import Citation, CitationState, Source, Turn
from services.answer_text import offers_nearest
from services.citation_summary import CitationCounts, count_citations
from ui import words
from ui.age import age_html
from ui.document_links import link_html, source_address
from ui.explanation import explanation_html
from ui.highlight import Span, excerpt_html
from ui.html import escape, lang

if TYPE_CHECKING:
    from services.reader import Freshness

WEB = ("http://", "https://")
MAX_NEAREST = 3
"""How many passages are shown where none answers."""


def citation_marker(turn: Turn) -> Callable[[int], str]:
    """HTML for the answer's markers: a link to the cited passage, flagged where checking failed.

    The first marker with a number stands for the first citation with it, and so on; a number
    that was never cited stays text.
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


def plain_marker(sources: Sequence[Source]) -> Callable[[int], str]:
    """HTML for markers while the answer is being written and nothing is checked yet."""
    known = {source.n for source in sources}
    return lambda n: f'<span class="fn-cite">{n}</span>' if n in known else ""


def _link(turn: Turn, source: Source, citation: Citation) -> str:
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
    """What checking found, in a line or two, then the sources: cited ones open, others folded.

    Where the built-in answerer found no answer, the nearest passages are open instead.

    `freshness` tells by document id what is stored now, and of documents that are gone nothing;
    without it the sources' age is not told.
    """
    html = verdict_html(turn) + sources_html(turn, freshness)
    return f'<section class="fn-sources" aria-label="{words.SOURCES}">{html}</section>'


def sources_html(turn: Turn, freshness: "Mapping[str, Freshness] | None" = None) -> str:
    """The sources alone, as `evidence_html` shows them."""
    cited = {citation.n for citation in turn.citations}
    cards = [_card(turn, source, freshness) for source in turn.sources if source.n in cited]
    others = [_card(turn, source, freshness) for source in turn.sources if source.n not in cited]
    if offers_nearest(turn):
        cards, others = others[:MAX_NEAREST], others[MAX_NEAREST:]
    invented = sorted(cited - {source.n for source in turn.sources})
    return "".join([*map(_invented, invented), *cards, _folded(others)])


def verdict_html(turn: Turn) -> str:
    """What checking the citations found: what it means unfolds, and warnings follow."""
    counts = count_citations(turn.citations)
    if offers_nearest(turn):
        return _line("fn-nearest", words.NEAREST_PASSAGES)
    if not turn.citations:
        return _line("fn-doubt", words.NO_CITATION) if turn.answer and turn.sources else ""
    html = _found_html(counts)
    if counts.unsupported:
        html += _line("fn-doubt", words.count(words.CITATIONS_UNSUPPORTED, counts.unsupported))
    if turn.unsupported_sentences:
        html += _line("fn-doubt", words.count(words.UNSUPPORTED, turn.unsupported_sentences))
    return html


def _found_html(counts: CitationCounts) -> str:
    """What stands in the documents, neutrally: that it does makes no answer right."""
    found, missing, matched, _ = counts
    parts = [
        words.count(words.QUOTES_FOUND, found) if found and not missing else "",
        _missing(found, missing) if missing else "",
        words.count(words.SENTENCES_MATCHED, matched) if matched else "",
    ]
    line = escape(" · ".join(filter(None, parts)))
    if not line:
        return ""
    kind, meaning = ("doubt" if missing else "quoted"), words.QUOTES_MEAN
    if not found and not missing:
        meaning = words.MATCHES_MEAN
    return (
        f'<details class="fn-verdict fn-{kind}"><summary>{line}</summary>'
        f"<p>{escape(meaning)}</p></details>"
    )


def _missing(found: int, missing: int) -> str:
    return str(words.QUOTES_MISSING.format(found=found, missing=missing, total=found + missing))


def _line(kind: str, text: str) -> str:
    return f'<p class="fn-verdict {kind}">{escape(text)}</p>'


def _invented(n: int) -> str:
    return _line("fn-doubt", words.NO_SUCH_SOURCE.format(n=n))


def _folded(cards: Sequence[str]) -> str:
    if not cards:
        return ""
    summary = words.MORE_SOURCES.format(n=len(cards))
    return f'<details class="fn-more"><summary>{summary}</summary>{"".join(cards)}</details>'


def _card(turn: Turn, source: Source, freshness: "Mapping[str, Freshness] | None") -> str:
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


def _why(source: Source) -> str:
    if source.why is None:
        return ""
    told = explanation_html(source.why)
    return f'<details class="fn-found"><summary>{words.WHY}</summary>{told}</details>'


def _span_in(source: Source, citation: Citation) -> Span | None:
    """Where the quote stands in the passage, as far as it does; both count in the document."""
    start, end = citation.start - source.start, citation.end - source.start
    begin, stop = max(start, 0), min(end, len(source.text))
    if begin < stop and source.text[begin:stop] == citation.quote[begin - start : stop - start]:
        return begin, stop
    return None


def _elsewhere(quote: str) -> str:
    """A quote that the document holds in another place than this passage."""
    return (
        f'<div class="fn-elsewhere">{escape(words.ELSEWHERE)}'
        f" <mark{lang(quote)}>{escape(quote)}</mark></div>"
    )


def _whole_passage(passage: str) -> str:
    """The switch that unfolds the far parts of the passage after it."""
    if "fn-far" not in passage:
        return ""
    return f'<details class="fn-whole"><summary>{words.WHOLE_PASSAGE}</summary></details>'


def _checks(citations: Sequence[Citation]) -> str:
    """What checking found, once for citations of which the same is to be said."""
    return "".join(
        f'<div class="fn-checked">{check}{f" ({n})" if n > 1 else ""}</div>'
        for check, n in Counter(map(_check, citations)).items()
    )


def _title(turn: Turn, source: Source, citations: Sequence[Citation]) -> str:
    title = source.name
    label = words.OPEN_AT_PASSAGE.format(title=title)
    address = source_address(turn, source, next(iter(citations), None))
    return link_html(address, escape(title), kind="fn-title", label=label)


def _age(source: Source, freshness: "Mapping[str, Freshness] | None") -> str:
    if freshness is None:
        return ""
    age = age_html(source.version, freshness.get(source.document_id))
    return f'<div class="fn-where fn-age">{age}</div>'


def where_html(source: Source) -> str:
    """The heading path, the page and the original's place, as a link where it is on the web."""
    page = words.PAGE.format(page=source.page) if source.page else ""
    heading = " › ".join(source.heading_path)
    parts = [escape(part) for part in (heading, page) if part]
    return "".join(f"<span>{part}</span>" for part in [*parts, original_html(source.location)])


def original_html(location: str) -> str:
    """Where the original is: a link on the web, a path as text, for no page opens a file."""
    short = escape(_short(location))
    if location.startswith(WEB):
        return link_html(location, short, label=words.OPEN_ORIGINAL)
    return short


def _short(location: str) -> str:
    """A path as people know it: below the program's folder, or the name of a file they gave."""
    path = Path(location)
    if path.parts[-3:-2] == ("uploads",):
        return path.name
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else location


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
