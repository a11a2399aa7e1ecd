"""How the page presents the sources and citations of an answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from domain import EXTRACTIVE, Answerer, CitationState, Explanation, ScorePart, Turn, TurnState
from services.library.reader_service import Freshness
from tests.pages.conftest import Services, ask
from tests.pages.double import NOW, QUOTE, Answerers, Script, citation, source
from ui.chat.citation_view import evidence_html
from ui.text import words

NEAREST = "Closest passages. They may not answer the question."
UNCITED = "This answer cites no source. Check it before you rely on it."


def test_sources_that_were_not_cited_are_collapsed(page: AppTest) -> None:
    html = ask(page)
    cited, collapsed = html.split('class="fn-sources"')[1].split('<details class="fn-more"')
    assert "Sick leave" not in cited
    assert "Sick leave" in collapsed


def test_markup_in_a_document_is_shown_as_text(page: AppTest, services: Services) -> None:
    evil = "<script>alert(1)</script><img src=http://x/y onerror=alert(2)> <b>bold</b>"
    services.chat.script = Script(
        pieces=(f"“{evil}” ![x](http://x/z) [here](http://x) <i>i</i>", "[1]"),
        sources=(source(1, evil, title="<u>title</u>", location="<s>", heading_path=("<em>",)),),
        citations=(citation(quote="<b>bold</b>", start=evil.find("<b>"), end=len(evil)),),
    )
    html = ask(page, "<h1>question</h1>")
    for tag in ("<script>alert", "<img", "<b>", "<u>", "<s>", "<em>", "<i>", "<h1>q", 'href="http'):
        assert tag not in html
    assert "<mark>&lt;b&gt;bold&lt;/b&gt;</mark>" in html


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (str(Path.cwd() / "handbook" / "휴가.md"), "<span>handbook/휴가.md</span>"),
        ("/elsewhere/leave.md", "<span>/elsewhere/leave.md</span>"),
        ("https://wiki.example/leave", 'href="https://wiki.example/leave" target="_blank"'),
        ("javascript:alert(1)", "<span>javascript:alert(1)</span>"),
    ],
)
def test_a_source_shows_its_location(
    page: AppTest, services: Services, location: str, expected: str
) -> None:
    services.chat.script = Script(sources=(source(1, location=location),))
    html = ask(page)
    assert expected in html
    assert 'href="javascript' not in html


def test_invented_and_altered_citations_are_flagged(page: AppTest, services: Services) -> None:
    services.chat.script = Script(
        pieces=("A [1]. B [2]. ", "C [9]."),
        citations=(
            citation(1, quoted_by_answer=False),
            citation(2, CitationState.NOT_FOUND, "Sick leave needs three notes."),
            citation(2, CitationState.NOT_FOUND, "Sick leave"),  # although it occurs there
            citation(9, CitationState.NO_SUCH_SOURCE, ""),
        ),
        unsupported=1,
    )
    html = ask(page)
    assert "0 of 2 quotes found in the documents; 2 not found." in html
    assert "Sentences matched by Footnote: 1." in html
    assert "Citations without support: 1." in html
    assert words.MATCHED in html
    assert "2 ⚠ not found</a>" in html
    assert "Sick leave needs three notes." in html
    assert html.count("<mark>") == 1
    assert "9 ⚠ no such source</span>" in html
    assert words.NO_SUCH_SOURCE.format(n=9) in html
    assert "Sentences without a source: 1." in html


def test_verified_quotes_are_described_as_found_not_as_correct(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(citations=(citation(), citation()))
    html = ask(page).split('class="fn-sources"')[1]
    verdict = "2 quotes found in the documents."
    assert f'<details class="fn-verdict fn-quoted"><summary>{verdict}</summary>' in html
    assert words.QUOTES_MEAN in html
    assert f'<span class="fn-badge fn-quote">found in the document</span>{words.QUOTED}' in html
    assert "verified" not in html
    assert "✓" not in html


def test_a_sentence_matched_by_the_program_is_not_a_quote_of_the_answer(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(citations=(citation(quoted_by_answer=False),))
    html = ask(page)
    assert "<summary>Sentences matched by Footnote: 1.</summary>" in html
    assert words.MATCHES_MEAN in html
    assert "quotes found" not in html


def test_a_missing_quote_is_a_warning_in_words(page: AppTest, services: Services) -> None:
    missing = citation(1, CitationState.NOT_FOUND, "Sick leave needs three notes.")
    services.chat.script = Script(citations=(citation(), citation(), missing))
    verdict = "2 of 3 quotes found in the documents; 1 not found."
    assert f'<details class="fn-verdict fn-doubt"><summary>{verdict}</summary>' in ask(page)


def test_an_answer_without_a_citation_is_flagged(page: AppTest, services: Services) -> None:
    services.chat.answerers = Answerers(Answerer("a model"))
    services.chat.script = Script(pieces=("I believe it is ten.",), citations=())
    assert UNCITED in ask(page)


def test_each_quote_is_highlighted_at_its_location(page: AppTest, services: Services) -> None:
    text = "ten days, ten days, ten <days>"
    services.chat.script = Script(
        sources=(source(1, text, start=500),),
        citations=(citation(quote="ten days", start=510, end=518),),
    )
    assert "ten days, <mark>ten days</mark>, ten &lt;days&gt;" in ask(page)


def test_a_quote_that_exceeds_the_passage_is_partly_highlighted(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(
        sources=(source(1, "ends here. And more follows.", start=500),),
        citations=(citation(quote="A sentence that ends here.", start=484, end=510),),
    )
    html = ask(page)
    assert "<mark>ends here.</mark> And more" in html
    assert words.ELSEWHERE not in html


@pytest.mark.parametrize(("start", "end"), [(0, 8), (486, 494), (600, 608), (-1, -1), (500, 508)])
def test_a_quote_from_elsewhere_in_the_document_is_shown_above_the_passage(
    page: AppTest, services: Services, start: int, end: int
) -> None:
    services.chat.script = Script(
        sources=(source(1, "another passage", start=500),),
        citations=(citation(quote="ten days", start=start, end=end),),
    )
    above, passage = ask(page).split('<div class="fn-passage fn-text">')
    assert f"{words.ELSEWHERE} <mark>ten days</mark>" in above
    assert "<mark>" not in passage.split("</article>")[0]


def test_a_source_explains_why_it_was_retrieved_if_known(page: AppTest, services: Services) -> None:
    parts = (ScorePart("dense", 3, 0.61, 0.4), ScorePart("bm25", None, None, 0.0))
    why = Explanation(0.4, parts, ("<b>annual", "leave"))
    services.chat.script = Script(sources=(source(1, why=why), source(2)))
    html = ask(page)
    assert html.count(words.WHY) == 1
    assert words.NOT_IN_LIST in html
    assert "&lt;b&gt;annual" in html


MARKED = "# Total\n\nRate **A** is 5 days."
DRIVE = "https://drive.google.com/file/d/1/view"


@pytest.mark.parametrize(
    ("location", "format", "shown"),
    [
        (DRIVE, "pdf", "Rate **A** is"),
        (DRIVE, "", "Rate <strong>A</strong> is"),
        ("places.jsonl", "place", "Rate <strong>A</strong> is"),
        ("places.jsonl", "", "Rate **A** is"),
        ("notice.jpeg", "jpg", "# Total"),
        ("notice.jpeg", "", '<p class="fn-h">Total</p>'),
    ],
)
def test_a_passage_is_shown_by_the_format_of_its_document_or_in_old_turns_by_its_location(
    location: str, format: str, shown: str
) -> None:
    passage = source(1, MARKED, location=location, format=format)
    assert shown in evidence_html(replace(turn_of_version(), sources=(passage,)))


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0, "imported today, version 12"),
        (1, "imported 1 day ago, version 12"),
        (34, "imported 34 days ago, version 12"),
    ],
)
def test_a_source_shows_its_age(days: int, text: str) -> None:
    html = evidence_html(turn_of_version(), {"d1": freshness("v1", days=days)})
    assert text in html
    assert words.CHANGED_SINCE not in html


def test_a_source_says_that_its_document_has_changed() -> None:
    html = evidence_html(turn_of_version(), {"d1": freshness("v2")})
    assert words.CHANGED_SINCE in html
    assert f"<mark>{QUOTE}</mark>" in html


def test_a_source_says_that_its_document_was_removed() -> None:
    html = evidence_html(turn_of_version(), {})
    assert f">{words.GONE}</span>" in html
    assert f"<mark>{QUOTE}</mark>" in html


def test_an_old_turn_without_versions_reports_no_changes() -> None:
    html = evidence_html(turn_of_version(version=""), {"d1": freshness("v2")})
    assert words.CHANGED_SINCE not in html


def turn_of_version(version: str = "v1") -> Turn:
    return Turn(
        "t1",
        "c1",
        "How many days?",
        TurnState.COMPLETE,
        NOW,
        answer=f"{QUOTE} [1]",
        sources=(source(1, version=version),),
        citations=(citation(),),
    )


def freshness(version: str, *, days: int = 0) -> Freshness:
    return Freshness(version, 12, datetime.now(UTC) - timedelta(days=days, minutes=5))


def test_the_nearest_passages_are_open_when_the_built_in_answerer_finds_nothing(
    page: AppTest, services: Services
) -> None:
    sources = tuple(source(n, f"Passage {n}.") for n in range(1, 6))
    services.chat.script = Script(pieces=("I found nothing.",), sources=sources, citations=())
    html = ask(page)
    assert NEAREST in html
    assert UNCITED not in html
    visible, collapsed = html.split('<details class="fn-more">')
    assert [f"Passage {n}." in visible for n in range(1, 6)] == [True] * 3 + [False] * 2
    assert "Passage 4." in collapsed


@pytest.mark.parametrize(
    ("model", "script", "message"),
    [
        (EXTRACTIVE, Script(pieces=("I found no clear answer.",)), NEAREST),
        (EXTRACTIVE, Script(pieces=("I found no clear answer.",), sources=()), None),
        ("m", Script(pieces=("The documents do not say.",)), NEAREST),
        ("m", Script(pieces=("The documents do not say.",), sources=()), None),
        ("m", Script(pieces=("It is ten days.",), unsupported=1), UNCITED),
        ("m", Script(pieces=("It is ten days.",), sources=(), unsupported=1), UNCITED),
        ("m", Script(pieces=("Hello!",), sources=()), None),
    ],
)
def test_an_answer_without_a_citation_has_one_message_at_most(
    page: AppTest, services: Services, model: str, script: Script, message: str | None
) -> None:
    services.chat.answerers = Answerers(Answerer(model))
    services.chat.script = replace(script, citations=())
    html = ask(page)
    assert [text for text in (NEAREST, UNCITED) if text in html] == [message] * bool(message)


def test_narrow_screens_collapse_the_sources_under_their_number(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(citations=(citation(), citation()))
    html = ask(page)
    verdict, sources = html.split('<details class="fn-fold"><summary>1 source</summary></details>')
    assert "2 quotes found in the documents" in verdict
    assert sources.startswith('<div class="fn-cards"><article class="fn-source">')
