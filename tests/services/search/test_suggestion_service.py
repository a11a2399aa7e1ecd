from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace

from domain import LOCAL_USER, ListedDocument
from services.search.suggestion_service import SuggestionService

DAY = date(2026, 11, 21)


def document(n, title, *, source="s1", script="latin"):
    return ListedDocument(
        id=f"d{n}", source_id=source, key=f"{n}.md", title=title, location=f"{n}.md", format="md",
        encoding=None, pages=0, characters=100, script=script, passages=1, longest_passage=100,
        revision=1, imported_at=datetime(2026, 11, 1, tzinfo=UTC), warnings=(),
    )  # fmt: skip


class Library:
    """A fake of the three stores from which suggestions are read."""

    def __init__(self, documents, headings=None, private=(), catalogs=()):
        self.documents, self.headings = documents, headings or {}
        ids = sorted({one.source_id for one in documents})
        self.sources = [
            SimpleNamespace(
                id=id_,
                conversation_id="c1" if id_ in private else "",
                is_catalog=id_ in catalogs,
            )
            for id_ in ids
        ]

    def page(self, filter_, order, *, limit):
        return [one for one in self.documents if one.source_id in filter_.sources][:limit]

    def of(self, ids):
        return {id_: self.headings[id_] for id_ in ids if id_ in self.headings}

    def list(self):
        return self.sources


def suggest(documents, headings=None, *, day=DAY, n=4, private=(), catalogs=()):
    library = Library(documents, headings, private, catalogs)
    return SuggestionService(library, library, library).suggest(LOCAL_USER, day, n)


def test_a_question_names_a_title_and_a_heading_in_the_documents_language():
    suggestions = suggest(
        [
            document(1, "Leave policy"),
            document(2, "휴가 규정", script="korean"),
            document(3, "休暇規程", script="japanese"),
        ],
        {"d1": ["Leave policy", "Sick leave"], "d2": ["병가"], "d3": ["病気休暇"]},
    )
    assert sorted(suggestions) == [
        "What does “Leave policy” say about “Sick leave”?",
        "‘휴가 규정’에는 ‘병가’에 대해 어떻게 나와 있나요?",
        "「休暇規程」には「病気休暇」について何と書かれていますか？",
    ]


def test_questions_about_whole_documents_without_headings_come_last():
    suggestions = suggest(
        [document(1, "Notes of a trip"), document(2, "VPN")], {"d2": ["Gateways"]}
    )
    assert suggestions == [
        "What does “VPN” say about “Gateways”?",
        "What is “Notes of a trip” about?",
    ]


def test_file_names_and_numbers_are_not_suggested():
    titles = ["scan_0012.pdf", "20261121", "docs/readme_old", "4.2.1", "x", "a" * 200]
    assert suggest([document(n, title) for n, title in enumerate(titles)]) == []
    headings = {"d1": ["1.2.3", "12", "setup.sh"]}
    assert suggest([document(1, "Setup")], headings) == ["What is “Setup” about?"]


def test_a_language_without_a_template_has_no_suggestions():
    assert suggest([document(1, "Отпуск", script="other")]) == []


def test_each_source_and_language_is_suggested_before_any_repeats():
    common = [document(n, f"Page {chr(65 + n)}") for n in range(20)]
    rare = [document(30, "휴가", script="korean"), document(31, "Minutes", source="s2")]
    suggestions = suggest(common + rare, n=3)
    assert any("휴가" in question for question in suggestions)
    assert any("Minutes" in question for question in suggestions)


def test_suggestions_are_stable_for_a_day_and_change_daily():
    documents = [document(n, f"Topic {chr(65 + n)}") for n in range(20)]
    assert suggest(documents) == suggest(documents[::-1])
    days = {tuple(suggest(documents, day=DAY + timedelta(n))) for n in range(5)}
    assert len(days) > 1


def test_files_of_a_conversation_suggest_no_questions_elsewhere():
    documents = [document(1, "Secret plan", source="private"), document(2, "VPN")]
    assert suggest(documents, private={"private"}) == ["What is “VPN” about?"]


def test_quotes_and_markdown_are_removed_from_suggestions():
    suggestions = suggest([document(1, "The “new” *rules*")], {"d1": ["`code`  style"]})
    assert suggestions == ["What does “The new rules” say about “code style”?"]


def test_real_documents_suggest_questions_about_their_headings(build_services, handbook):
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    suggestions = services.suggestions.suggest(LOCAL_USER, DAY)
    assert any("“Leave policy” say about “" in question for question in suggestions)
    assert any("휴가 규정" in question for question in suggestions)


def test_no_question_is_about_a_place_of_a_catalog():
    documents = [document(1, "Leave policy"), document(2, "Trattoria Lucia", source="s2")]
    assert suggest(documents, catalogs=("s2",)) == ["What is “Leave policy” about?"]
