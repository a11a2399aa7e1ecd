import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain import LOCAL_USER, CitationState, Principal
from domain.errors import InputError, NotFoundError
from services.library import document_parts as document_parts_module
from services.library.reader_service import Cited, ViewContent
from services.library.text_search import find_words
from storage.ledger.document_store import Documents

SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"
BERT = Principal("bert")
LEAVE = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year."


@pytest.fixture
def services(imported):
    return imported(embed=True, passage_chars=100, passage_overlap_chars=0)


@pytest.fixture
def turn(services):
    return services.chat.ask(LOCAL_USER, LEAVE)


def evidence(turn):
    """The first verified citation and its source."""
    citation = next(one for one in turn.citations if one.state is CitationState.VERIFIED)
    source = next(one for one in turn.sources if one.n == citation.n)
    return citation, source


def citation_of(turn):
    citation, source = evidence(turn)
    return source.document_id, Cited(turn.conversation_id, turn.id, citation.n)


def change(services, handbook, text):
    (handbook / "leave.md").write_text(text, encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, handbook)


def remove(services, handbook):
    (handbook / "leave.md").unlink()
    services.directories.import_directory(LOCAL_USER, handbook, confirm_removals=True)


def marked_texts(view):
    return [view.text[start - view.start : end - view.start] for start, end in view.marks]


def focused_text(view):
    return view.text[view.focus.start - view.start : view.focus.end - view.start]


def test_a_document_opens_at_the_quote(services, turn):
    citation, source = evidence(turn)
    view = services.reader.view(LOCAL_USER, source.document_id, citation.start, citation.end)
    assert marked_texts(view) == [citation.quote]
    assert citation.quote in focused_text(view)
    assert view.text == services.library.documents.text(source.document_id)
    assert "Leave policy" in [heading.title for heading in view.headings]
    assert (view.title, view.content) == ("Leave policy", ViewContent.STORED)
    assert (view.stored.revision, view.stored.version) == (1, source.version)
    assert view.heading_path == source.heading_path


def test_a_cited_document_has_the_quotes_of_the_turn_marked_and_its_question(services, turn):
    document_id, reference = citation_of(turn)
    view = services.reader.view(LOCAL_USER, document_id, cited=reference)
    assert set(marked_texts(view)) <= {citation.quote for citation in turn.citations}
    assert view.marks
    assert view.question == LEAVE


def test_a_long_document_can_be_read_part_by_part_to_its_end(services, turn, monkeypatch):
    monkeypatch.setattr(document_parts_module, "PART_CHARACTERS", 60)
    document_id = evidence(turn)[1].document_id
    view = services.reader.view(LOCAL_USER, document_id)
    assert view.previous is None
    texts = [view.text]
    while view.next:
        before = view.start
        view = services.reader.view(LOCAL_USER, document_id, view.next, view.next)
        assert view.previous == before
        assert view.focus == (view.start, view.start)
        texts.append(view.text)
    assert len(texts) == view.parts == view.part > 1
    assert "".join(texts) == services.library.documents.text(document_id)


def test_words_are_found_in_the_document_and_its_part_is_shown(services, turn):
    citation, source = evidence(turn)
    [span] = services.reader.find(LOCAL_USER, source.document_id, QUOTE.upper())
    assert span == (citation.start, citation.start + len(QUOTE))
    view = services.reader.view(LOCAL_USER, source.document_id, at=span.start)
    assert view.start <= span.start < view.start + len(view.text)
    with pytest.raises(NotFoundError):
        services.reader.find(LOCAL_USER, "nowhere", "leave")


@pytest.fixture
def reads(monkeypatch):
    """The ids of the documents whose whole text is read from the ledger."""
    reads, text = [], Documents.text
    monkeypatch.setattr(Documents, "text", lambda *of: reads.append(of[1]) or text(*of))
    return reads


def test_a_version_is_searched_for_the_same_words_only_once(services, turn, handbook, reads):
    document_id, _ = citation_of(turn)
    reads.clear()
    matches = {services.reader.find(LOCAL_USER, document_id, "leave") for _ in range(3)}
    assert reads == [document_id]
    assert len(matches.pop()) > 1
    change(services, handbook, "Nobody may leave.")
    assert services.reader.find(LOCAL_USER, document_id, "leave") == ((11, 16),)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.tuples(st.integers(0, 300), st.integers(1, 9)), max_size=40))
def test_a_repeated_search_finds_what_the_text_contains(services, turn, pieces):
    document_id, _ = citation_of(turn)
    text = services.reader.documents.text(document_id)
    words = [text[start : start + length] for start, length in pieces]
    for one in (*words, *words):
        expected = tuple(find_words(text, one))
        assert services.reader.find(LOCAL_USER, document_id, one) == expected


@pytest.mark.parametrize("span", [(-1, 5), (5, 1), (0, 10**9), (10**9, 10**9)])
def test_a_span_out_of_range_is_an_error(services, turn, span):
    with pytest.raises(InputError, match="Leave policy has"):
        services.reader.view(LOCAL_USER, evidence(turn)[1].document_id, *span)


def test_the_position_shown_decides_the_heading_path(services, turn):
    citation, source = evidence(turn)
    at = services.library.documents.text(source.document_id).index("Tell your lead")
    views = [
        services.reader.view(
            LOCAL_USER, source.document_id, citation.start, citation.end, at=position
        )
        for position in (None, at, 10**9)
    ]
    paths = [view.heading_path[-1] for view in views]
    assert paths == ["Annual leave", "Sick leave", "Sick leave"]
    assert {view.focus for view in views} == {views[0].focus}


def test_a_version_is_divided_into_parts_only_once(services, turn, handbook, reads):
    document_id, reference = citation_of(turn)
    reads.clear()
    services.reader.view(LOCAL_USER, document_id)
    services.reader.view(LOCAL_USER, document_id, cited=reference)
    assert reads == [document_id]
    change(services, handbook, "# Leave policy\n\n## News\n\nNothing.\n")
    view = services.reader.view(LOCAL_USER, document_id)
    assert [heading.title for heading in view.headings] == ["Leave policy", "News"]


def test_an_unknown_document_is_an_error(services):
    with pytest.raises(NotFoundError, match="not in the library"):
        services.reader.view(LOCAL_USER, "nowhere")


@pytest.mark.parametrize(
    "wrong",
    [{"conversation_id": "x"}, {"turn_id": "x"}, {"n": 99}],
    ids=lambda one: next(iter(one)),
)
def test_an_unknown_answer_is_an_error(services, turn, wrong):
    document_id, citation = citation_of(turn)
    with pytest.raises(NotFoundError):
        services.reader.view(LOCAL_USER, document_id, cited=citation._replace(**wrong))


def test_evidence_is_visible_only_to_the_user_of_the_answer(services, turn, handbook):
    document_id, reference = citation_of(turn)
    remove(services, handbook)
    with pytest.raises(NotFoundError):
        services.reader.view(BERT, document_id, cited=reference)


def test_the_evidence_of_a_changed_document_is_shown_unchanged(services, turn, handbook):
    citation, source = evidence(turn)
    document_id, reference = citation_of(turn)
    change(services, handbook, "# Leave policy\n\nThere are 30 days now.\n")
    view = services.reader.view(
        LOCAL_USER, document_id, citation.start, citation.end, cited=reference
    )
    assert (view.content, view.stored.revision, view.now) == (ViewContent.SAVED_CHANGED, 2, None)
    assert view.text == source.text
    assert citation.quote in marked_texts(view)


def test_evidence_that_moved_in_a_changed_document_is_located(services, turn, handbook):
    source = evidence(turn)[1]
    document_id, reference = citation_of(turn)
    text = (handbook / "leave.md").read_text(encoding="utf-8")
    change(services, handbook, f"# News\n\nThis page has moved.\n\n{text}")
    view = services.reader.view(LOCAL_USER, document_id, cited=reference)
    assert view.content is ViewContent.SAVED_CHANGED
    assert source.text in services.reader.view(LOCAL_USER, document_id, *view.now).text


def test_the_evidence_of_a_removed_document_is_shown(services, turn, handbook):
    citation, _ = evidence(turn)
    document_id, reference = citation_of(turn)
    remove(services, handbook)
    view = services.reader.view(
        LOCAL_USER, document_id, citation.start, citation.end, cited=reference
    )
    assert (view.content, view.stored, view.title) == (
        ViewContent.SAVED_REMOVED,
        None,
        "Leave policy",
    )
    assert citation.quote in marked_texts(view)
    with pytest.raises(NotFoundError):
        services.reader.view(LOCAL_USER, document_id)


def test_the_same_bytes_read_differently_count_as_changed(services, turn, monkeypatch):
    document_id, reference = citation_of(turn)
    source = evidence(turn)[1]
    earlier_source = replace(source, text="Text that the file was read as before.")
    earlier_turn = replace(turn, sources=(earlier_source,), citations=())
    monkeypatch.setattr(services.reader.conversations, "turn", lambda *_: earlier_turn)
    view = services.reader.view(LOCAL_USER, document_id, cited=reference)
    assert (view.content, view.text) == (ViewContent.SAVED_CHANGED, earlier_source.text)


def test_freshness_includes_every_document_that_still_exists(services, turn, handbook):
    document_id = evidence(turn)[1].document_id
    fresh = services.reader.freshness(LOCAL_USER, [turn, turn])
    assert set(fresh) == {source.document_id for source in turn.sources}
    assert fresh[document_id].revision == 1
    change(services, handbook, "# Leave policy\n\nNothing.\n")
    assert services.reader.freshness(LOCAL_USER, [turn])[document_id].revision == 2
    remove(services, handbook)
    assert document_id not in services.reader.freshness(LOCAL_USER, [turn])
    assert services.reader.freshness(LOCAL_USER, []) == {}


def test_the_position_shown_decides_the_page(services, tmp_path):
    (tmp_path / "pdfs").mkdir()
    shutil.copy(SAMPLE, tmp_path / "pdfs")
    services.directories.import_directory(LOCAL_USER, tmp_path / "pdfs")
    document = next(one for one in services.library.documents.list() if one.format == "pdf")
    end = document.characters
    views = [
        services.reader.view(LOCAL_USER, document.id, *span, at=at)
        for span, at in [((0, 10), None), ((end, end), None), ((0, 10), end)]
    ]
    first, last = document.pages[0][1], document.pages[-1][1]
    assert [view.page for view in views] == [first, last, last]
    assert all(view.has_pictures for view in views)


def test_other_formats_than_pdf_have_no_pictures_of_pages(services, turn):
    assert not services.reader.view(LOCAL_USER, evidence(turn)[1].document_id).has_pictures


def test_files_of_the_conversation_of_another_user_are_not_visible(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Mine").id
    services.uploads.add(
        LOCAL_USER, [("a.txt", b"My salary is secret.")], conversation_id=conversation_id
    )
    box = services.uploads.box_of(LOCAL_USER, conversation_id)
    services.imports.run(LOCAL_USER, box, services.uploads.loader(box))
    [document] = services.library.documents.list(box.id)

    assert "salary" in services.reader.view(LOCAL_USER, document.id).text
    with pytest.raises(NotFoundError, match="not in the library"):
        services.reader.view(BERT, document.id)
    turn = services.chat.ask(LOCAL_USER, "What is secret?", conversation_id)
    assert document.id in services.reader.freshness(LOCAL_USER, [turn])
    assert document.id not in services.reader.freshness(BERT, [turn])


def test_a_span_of_the_stored_text_can_be_read(services, turn):
    _, source = evidence(turn)
    whole = services.reader.text(LOCAL_USER, source.document_id)
    assert whole.startswith("# Leave policy")
    assert services.reader.text(LOCAL_USER, source.document_id, 2, 7) == "Leave"
    assert services.reader.text(LOCAL_USER, source.document_id, len(whole), 10**9) == ""


def test_the_passages_from_a_position_are_those_that_a_search_finds(services, turn):
    _, source = evidence(turn)
    passages = services.reader.passages(LOCAL_USER, source.document_id)
    assert [one.metadata["start"] for one in passages] == sorted(
        one.metadata["start"] for one in passages
    )
    second = passages[1]
    assert services.reader.passages(
        LOCAL_USER, source.document_id, second.metadata["start"], limit=1
    ) == [second]
    result = services.search.search(LOCAL_USER, LEAVE, k=1)[0]
    assert result.id in {one.id for one in passages}
    assert services.reader.passages(LOCAL_USER, source.document_id, 10**9) == []


def test_text_and_passages_of_the_files_of_another_user_cannot_be_read(services):
    conversation_id = services.conversations.begin(BERT, "mine").id
    services.uploads.add(
        BERT, [("secret.md", b"# Pay\n\nBert earns a lot.")], conversation_id=conversation_id
    )
    box = services.uploads.box_of(BERT, conversation_id)
    services.imports.run(BERT, box, services.uploads.loader(box))
    passage = services.search.retriever(BERT, conversation_id=conversation_id).invoke(
        "Bert earns a lot"
    )[0]
    with pytest.raises(NotFoundError):
        services.reader.find(LOCAL_USER, passage.metadata["document_id"], "Bert")
    for read in (services.reader.text, services.reader.passages):
        assert read(BERT, passage.metadata["document_id"])
        with pytest.raises(NotFoundError):
            read(LOCAL_USER, passage.metadata["document_id"])
