"""The sources below an answer: the cited passages, the results of the check, and locations."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from domain import Citation, CitationState, RetrievedPassage, Turn
from services.answer_support import offers_nearest
from services.export.answer_text import Finding, findings
from services.library.document_style import Style, style_of
from services.library.reader_service import Freshness
from ui.chat.explanation_view import explanation_html
from ui.documents.document_page import age_html
from ui.documents.highlight import (
    excerpt_html,
    link_html,
    original_html,
    source_address,
)
from ui.documents.rendering import Span, visible_text
from ui.shared.safe_html import cut_html, escape, lang, spans_html
from ui.text import words

MAX_NEAREST = 3
"""The number of passages shown if none answers the question."""


def citation_marker(turn: Turn) -> Callable[[int], str]:
    """HTML for the answer's markers: links to the cited passages, flagged if the check failed.

    The first marker with a number belongs to the first citation with that number, and so on. A
    number without a citation remains text.
    """
    waiting = {n: _with_number(turn, n) for n in {citation.n for citation in turn.citations}}
    sources = {source.n: source for source in turn.sources}
    numbers = count()

    def marker(n: int) -> str:
        citations = waiting.get(n, [])
        citation = citations.pop(0) if len(citations) > 1 else next(iter(citations), None)
        if citation is None:
            return ""
        if n not in sources:
            return _flag(n, citation.state)
        return _link(turn, sources[n], citation, next(numbers))

    return marker


def plain_marker(sources: Sequence[RetrievedPassage]) -> Callable[[int], str]:
    """HTML for markers while the answer is being written and its citations are unchecked."""
    numbers = {source.n for source in sources}
    return lambda n: f'<span class="fn-cite">{n}</span>' if n in numbers else ""


QUOTE_CHARACTERS = 400


def _link(turn: Turn, source: RetrievedPassage, citation: Citation, number: int) -> str:
    """The marker as a link; its `number` in the answer counts from 0."""
    if not source.document_id:  # imported, and not in this library
        return _flag(source.n, citation.state)
    label = words.SOURCE_LINK.format(n=source.n, title=source.title)
    address = source_address(turn, source, citation)
    if citation.state is CitationState.VERIFIED:
        id_ = f"fn-tip-{turn.id}-{number}"
        return _link_with_quote(source, citation, address, label, id_)
    flag = f" ⚠ {words.STATES[citation.state]}"
    return link_html(
        address, f"{source.n}{escape(flag)}", kind="fn-cite fn-bad", label=label + flag
    )


def _link_with_quote(
    source: RetrievedPassage, citation: Citation, address: str, label: str, id_: str
) -> str:
    """The marker, with the quote that is shown and read out when it has the focus."""
    quote = visible_text(citation.quote, _style(source))
    return (
        f'<span class="fn-quotable"><a class="fn-cite" href="{escape(address)}" target="_blank"'
        f' rel="noopener" aria-label="{escape(label)}" aria-describedby="{escape(id_)}">'
        f'{source.n}</a><span class="fn-tip" role="tooltip" id="{escape(id_)}">'
        f"<strong{lang(source.name)}>{cut_html(source.name)}</strong>"
        f"<span{lang(quote)}>{cut_html(quote, QUOTE_CHARACTERS)}</span></span></span>"
    )


def _style(source: RetrievedPassage) -> Style:
    return style_of(source.format, source.location)


def _flag(n: int, state: CitationState) -> str:
    return f'<span class="fn-cite fn-bad">{n} ⚠ {escape(words.STATES[state])}</span>'


def _with_number(turn: Turn, n: int) -> list[Citation]:
    return [citation for citation in turn.citations if citation.n == n]


def evidence_html(turn: Turn, freshness: Mapping[str, Freshness] | None = None) -> str:
    """The result of the check and the sources, which narrow screens collapse; "" without both."""
    verdict, sources = verdict_html(turn), sources_html(turn, freshness)
    if not verdict and not sources:
        return ""
    number = len({citation.n for citation in turn.citations}) or len(turn.sources)
    fold = f"<summary>{escape(words.count(words.SOURCES_COUNTED, number))}</summary>"
    return (
        f'<section class="fn-sources" aria-label="{words.SOURCES}">{verdict}'
        f'<details class="fn-fold">{fold}</details><div class="fn-cards">{sources}</div></section>'
    )


def sources_html(turn: Turn, freshness: Mapping[str, Freshness] | None = None) -> str:
    """The cited sources, or the nearest passages if no answer was found; the others are collapsed.

    `freshness` describes the stored version by document id and lacks removed documents. Without
    it, the age of the sources is not shown.
    """
    cited_numbers = {citation.n for citation in turn.citations}
    cards = [_card(turn, source, freshness) for source in turn.sources if source.n in cited_numbers]
    others = [
        _card(turn, source, freshness) for source in turn.sources if source.n not in cited_numbers
    ]
    if offers_nearest(turn):
        cards, others = others[:MAX_NEAREST], others[MAX_NEAREST:]
    invented = sorted(cited_numbers - {source.n for source in turn.sources})
    missing = [_verdict_line("fn-doubt", words.NO_SUCH_SOURCE.format(n=n)) for n in invented]
    return "".join([*missing, *cards, _fold(others)])


def verdict_html(turn: Turn) -> str:
    """The findings about the evidence; those about quotes and matches expand to an explanation."""
    return "".join(_finding_html(finding, text) for finding, text in findings(turn))


_KINDS = {
    Finding.NEAREST: "fn-nearest",
    Finding.QUOTED: "fn-quoted",
    Finding.MATCHED: "fn-quoted",
    Finding.MISSING: "fn-doubt",
    Finding.DOUBT: "fn-doubt",
}


def _finding_html(finding: Finding, message: str) -> str:
    kind, text = _KINDS[finding], words.translated(message)
    if finding in (Finding.NEAREST, Finding.DOUBT):
        return _verdict_line(kind, text)
    meaning = words.MATCHES_MEAN if finding is Finding.MATCHED else words.QUOTES_MEAN
    return (
        f'<details class="fn-verdict {kind}"><summary>{escape(text)}</summary>'
        f"<p>{escape(meaning)}</p></details>"
    )


def _verdict_line(kind: str, text: str) -> str:
    return f'<p class="fn-verdict {kind}">{escape(text)}</p>'


def _fold(cards: Sequence[str]) -> str:
    if not cards:
        return ""
    summary = words.MORE_SOURCES.format(n=len(cards))
    return f'<details class="fn-more"><summary>{summary}</summary>{"".join(cards)}</details>'


def _card(turn: Turn, source: RetrievedPassage, freshness: Mapping[str, Freshness] | None) -> str:
    citations = _with_number(turn, source.n)
    verified = [one for one in citations if one.state is CitationState.VERIFIED]
    spans = {one: _span_in(source, one) for one in verified}
    inside = [span for span in spans.values() if span]
    passage = excerpt_html(source.text, inside, _style(source))
    elsewhere = dict.fromkeys(one.quote for one, span in spans.items() if span is None)
    return (
        '<article class="fn-source">'
        f'<header><span class="fn-n">{source.n}</span>{_title(turn, source, citations)}</header>'
        f'<div class="fn-where">{where_html(source)}</div>{_age(source, freshness)}'
        f"{''.join(map(_elsewhere, elsewhere))}"
        f"{_whole_passage(passage)}"
        f'<div class="fn-passage fn-text"{lang(source.text)}>{passage}</div>{_checks(citations)}'
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
    if "fn-far" not in passage and "data-far" not in passage:
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
    if not source.document_id:
        badge = _badge(CitationState.NOT_VERIFIED)
        return f'<span class="fn-title">{escape(title)}</span>{badge}'
    label = words.OPEN_AT_PASSAGE.format(title=title)
    address = source_address(turn, source, next(iter(citations), None))
    return link_html(address, escape(title), kind="fn-title", label=label)


def _age(source: RetrievedPassage, freshness: Mapping[str, Freshness] | None) -> str:
    if freshness is None or not source.document_id:
        return ""
    age = age_html(source.version, freshness.get(source.document_id))
    return f'<div class="fn-where fn-age">{age}</div>'


def where_html(source: RetrievedPassage) -> str:
    """The heading path, the page, and the original's location, a link if it is on the web."""
    page = words.PAGE.format(page=source.page) if source.page else ""
    texts = spans_html((" › ".join(source.heading_path), page))
    return f"{texts}<span>{original_html(source.location)}</span>"


def _check(citation: Citation) -> str:
    badge = _badge(citation.state)
    if citation.state is CitationState.VERIFIED:
        return badge + escape(words.QUOTED if citation.quoted_by_answer else words.MATCHED)
    if citation.state is CitationState.NOT_VERIFIED:
        return badge + _claim(words.NOT_VERIFIED, citation.quote)
    return badge + (
        _claim(words.NOT_IN_SOURCE, citation.quote) if citation.quote else words.NO_QUOTE
    )


def _badge(state: CitationState) -> str:
    kind = "fn-quote" if state is CitationState.VERIFIED else "fn-bad"
    return f'<span class="fn-badge {kind}">{escape(words.STATES[state])}</span>'


def _claim(sentence: str, quote: str) -> str:
    return f"{escape(sentence)} <q{lang(quote)}>{escape(quote)}</q>"
