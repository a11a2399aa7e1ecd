from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from domain import LOCAL_USER, ListedDocument
from services.search.suggestion_service import SuggestionService
from storage.ledger.document_list_store import HeadedText
from storage.ledger.source_store import CATALOG_KIND, StoredSource

DAY = date(2026, 11, 21)
SAMPLES = Path("/samples")
TEXTS = {
    "latin": "Employees get sick leave for up to ten days, and must tell the lead.",
    "korean": "병가는 일 년에 열흘까지 쓸 수 있으며, 미리 신청합니다.",
    "japanese": "病気のときは、一年に十日まで休むことができます。",
}


def document(n, title, *, source="s1", script="latin", format_="md"):
    return ListedDocument(
        id=f"d{n}", source_id=source, key=f"{n}.md", title=title, location=f"{n}.md",
        format=format_,
        encoding=None, pages=0, characters=100, script=script, passages=1, longest_passage=100,
        revision=1, imported_at=datetime(2026, 11, 1, tzinfo=UTC), warnings=(),
    )  # fmt: skip


class Library:
    """A fake of the three stores from which suggestions are read."""

    def __init__(self, documents, headings=None, private=(), samples=(), catalogs=()):
        self.documents, self.headings = documents, headings or {}
        ids = sorted({one.source_id for one in documents})
        self.sources = [
            StoredSource(
                id_,
                CATALOG_KIND if id_ in catalogs else "directory",
                id_,
                str(SAMPLES) if id_ in samples else f"/{id_}",
                {"conversation_id": "c1"} if id_ in private else {},
                datetime.now(UTC),
            )
            for id_ in ids
        ]

    def page(self, filter_, order, *, limit):
        return [one for one in self.documents if one.source_id in filter_.sources][:limit]

    def first_passages(self, ids):
        return {
            one.id: [
                HeadedText(heading, TEXTS[one.script])
                for heading in self.headings.get(one.id, [""])
            ]
            for one in self.documents
            if one.id in ids
        }

    def own_sources(self, principal):
        return {one.id: one for one in self.sources}

    def readers(self, principal):
        return None


def suggest(documents, headings=None, *, day=DAY, n=4, language="", **sources):
    library = Library(documents, headings, **sources)
    service = SuggestionService(library, library, SAMPLES)
    return service.suggest(LOCAL_USER, day, n, language=language)


LANGUAGES = [
    document(1, "Leave policy"),
    document(2, "휴가 규정", script="korean"),
    document(3, "休暇規程", script="japanese"),
]


def test_questions_in_the_language_of_the_page_come_first():
    assert suggest(LANGUAGES, language="ko")[0] == "‘휴가 규정’에는 어떤 내용이 있나요?"
    assert suggest(LANGUAGES, language="ja")[0] == "「休暇規程」には何が書かれていますか？"
    assert suggest(LANGUAGES, language="en")[0] == "What is “Leave policy” about?"
    assert len(suggest(LANGUAGES, language="ko")) == 3


def test_questions_about_whole_documents_come_last():
    suggestions = suggest(
        [document(1, "Notes of a trip"), document(2, "VPN")], {"d2": ["Gateways"]}, n=3
    )
    assert suggestions[0] == "What does “VPN” say about “Gateways”?"
    assert sorted(suggestions[1:]) == ["What is “Notes of a trip” about?", "What is “VPN” about?"]


def test_documents_without_usable_titles_suggest_nothing():
    titles = ["scan_0012.pdf", "20261121", "docs/readme_old", "4.2.1", "x", "a" * 200, "Contents"]
    assert suggest([document(n, title) for n, title in enumerate(titles)]) == []


def test_data_files_suggest_nothing():
    assert suggest([document(1, "News of the week", format_="xml")]) == []


def test_samples_are_suggested_only_without_other_documents():
    samples = [document(n, title, source="s0") for n, title in enumerate(["Tides", "Harbours"])]
    assert len(suggest(samples, samples=["s0"])) == 2
    own = suggest([*samples, document(9, "Leave policy")], samples=["s0"])
    assert own == ["What is “Leave policy” about?"]


def test_places_of_a_catalog_are_not_suggested():
    documents = [document(1, "Harbour Grill", source="places"), document(2, "VPN")]
    assert suggest(documents, catalogs=["places"]) == ["What is “VPN” about?"]


def test_each_source_and_language_is_suggested_before_any_repeats():
    common = [document(n, f"Page {chr(65 + n)}") for n in range(20)]
    rare = [document(30, "휴가", script="korean"), document(31, "Minutes", source="s2")]
    suggestions = suggest(common + rare, n=3)
    assert any("휴가" in question for question in suggestions)
    assert any("Minutes" in question for question in suggestions)


def test_one_document_gives_several_questions_only_after_all_others():
    headings = {"d1": ["Sick leave", "Annual leave", "Holidays"], "d2": ["Gateways"]}
    suggestions = suggest([document(1, "Leave policy"), document(2, "VPN")], headings)
    assert sum("Gateways" in one for one in suggestions[:2]) == 1
    assert sum("Leave policy" in one for one in suggestions) == 3


def test_suggestions_are_stable_for_a_day_and_change_daily():
    documents = [document(n, f"Topic {chr(65 + n)}") for n in range(20)]
    assert suggest(documents) == suggest(documents[::-1])
    days = {tuple(suggest(documents, day=DAY + timedelta(n))) for n in range(5)}
    assert len(days) > 1


def test_files_of_a_conversation_suggest_no_questions_elsewhere():
    documents = [document(1, "Secret plan", source="private"), document(2, "VPN")]
    assert suggest(documents, private={"private"}) == ["What is “VPN” about?"]


def test_real_documents_suggest_questions_about_their_headings(imported):
    services = imported(embed=True)
    suggestions = services.suggestions.suggest(LOCAL_USER, DAY)
    assert "What does “Leave policy” say about annual leave?" in suggestions
    assert any("휴가 규정" in question for question in suggestions)
