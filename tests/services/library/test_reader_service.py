from dataclasses import replace
from pathlib import Path

import pytest

from domain import LOCAL_USER, CitationState, Principal
from errors import InputError, NotFoundError, UnreadableError
from services.library.reader_service import Cited, ViewContent

SAMPLE = Path(__file__).parents[3] / "samples" / "documents" / "security-handbook.pdf"
BERT = Principal("bert")
LEAVE = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year."


@pytest.fixture
def services(build_services, handbook):
    services = build_services(embed=True, passage_chars=100, passage_overlap_chars=0)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def turn(services):
    return services.chat.ask(LOCAL_USER, LEAVE)


def evidence(turn):
    """The first verified citation and its source."""
    citation = next(one for one in turn.citations if one.state is CitationState.VERIFIED)
    source = next(one for one in turn.sources if one.n == citation.n)
    return citation, source


def cited(turn):
    citation, source = evidence(turn)
    return source.document_id, Cited(turn.conversation_id, turn.id, citation.n)


def changed(services, handbook, text):
    (handbook / "leave.md").write_text(text, encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, handbook)


def removed(services, handbook):
    (handbook / "leave.md").unlink()
    services.directories.import_directory(LOCAL_USER, handbook, confirm_removals=True)


def marked(view):
    return [view.text[start - view.start : end - view.start] for start, end in view.marks]


def focused(view):
    return view.text[view.focus.start - view.start : view.focus.end - view.start]


def test_a_document_opens_at_the_quote(services, turn):
    citation, source = evidence(turn)
    view = services.reader.view(LOCAL_USER, source.document_id, citation.start, citation.end)
    assert marked(view) == [citation.quote]
    assert citation.quote in focused(view)
    assert (view.title, view.content) == ("Leave policy", ViewContent.STORED)
    assert (view.stored.revision, view.stored.version) == (1, source.version)
    assert view.heading_path == source.heading_path


def test_a_turn_has_its_own_quotes_marked_and_its_question_told(services, turn):
    document_id, of = cited(turn)
    view = services.reader.view(LOCAL_USER, document_id, cited=of)
    assert set(marked(view)) <= {citation.quote for citation in turn.citations}
    assert view.marks
    assert view.question == LEAVE


def test_the_passages_of_a_document_follow_each_other_to_its_end(services, turn):
    document_id = evidence(turn)[1].document_id
    view = services.reader.view(LOCAL_USER, document_id)
    assert view.previous is None
    seen = [focused(view)]
    while view.next:
        before = view.focus
        view = services.reader.view(LOCAL_USER, document_id, *view.next)
        assert view.previous == before
        assert not view.marks
        seen.append(focused(view))
    assert len(seen) == view.passages == view.ordinal > 1
    text = services.search.documents.text(document_id)
    assert all(passage in text for passage in seen)
    assert seen[-1].rstrip().endswith("before ten o'clock.")


@pytest.mark.parametrize("span", [(-1, 5), (5, 1), (0, 10**9), (10**9, 10**9)])
def test_a_span_out_of_range_is_an_error(services, turn, span):
    with pytest.raises(InputError, match="Leave policy has"):
        services.reader.view(LOCAL_USER, evidence(turn)[1].document_id, *span)


def test_an_unknown_document_is_an_error(services):
    with pytest.raises(NotFoundError, match="not in the library"):
        services.reader.view(LOCAL_USER, "nowhere")


@pytest.mark.parametrize(
    "wrong",
    [{"conversation_id": "x"}, {"turn_id": "x"}, {"n": 99}],
    ids=lambda one: next(iter(one)),
)
def test_an_unknown_answer_is_an_error(services, turn, wrong):
    document_id, citation = cited(turn)
    with pytest.raises(NotFoundError):
        services.reader.view(LOCAL_USER, document_id, cited=citation._replace(**wrong))


def test_evidence_is_visible_only_to_the_user_of_the_answer(services, turn, handbook):
    document_id, of = cited(turn)
    removed(services, handbook)
    with pytest.raises(NotFoundError):
        services.reader.view(BERT, document_id, cited=of)


def test_of_a_changed_document_the_evidence_is_shown_as_it_was(services, turn, handbook):
    citation, source = evidence(turn)
    document_id, of = cited(turn)
    changed(services, handbook, "# Leave policy\n\nThere are 30 days now.\n")
    view = services.reader.view(LOCAL_USER, document_id, citation.start, citation.end, cited=of)
    assert (view.content, view.stored.revision, view.now) == (ViewContent.SAVED_CHANGED, 2, None)
    assert view.text == source.text
    assert citation.quote in marked(view)


def test_it_is_told_where_the_evidence_stands_in_the_changed_document(services, turn, handbook):
    source = evidence(turn)[1]
    document_id, of = cited(turn)
    text = (handbook / "leave.md").read_text(encoding="utf-8")
    changed(services, handbook, f"# News\n\nThis page has moved.\n\n{text}")
    view = services.reader.view(LOCAL_USER, document_id, cited=of)
    assert view.content is ViewContent.SAVED_CHANGED
    assert source.text in services.reader.view(LOCAL_USER, document_id, *view.now).text


def test_of_a_document_that_is_gone_the_evidence_is_shown(services, turn, handbook):
    citation, _ = evidence(turn)
    document_id, of = cited(turn)
    removed(services, handbook)
    view = services.reader.view(LOCAL_USER, document_id, citation.start, citation.end, cited=of)
    assert (view.content, view.stored, view.title) == (
        ViewContent.SAVED_REMOVED,
        None,
        "Leave policy",
    )
    assert citation.quote in marked(view)
    with pytest.raises(NotFoundError):
        services.reader.view(LOCAL_USER, document_id)


def test_bytes_that_are_read_otherwise_now_count_as_changed(services, turn, monkeypatch):
    document_id, of = cited(turn)
    source = evidence(turn)[1]
    moved = replace(source, text="Text that the file was read as before.")
    stored = replace(turn, sources=(moved,), citations=())
    monkeypatch.setattr(services.reader.conversations, "turn", lambda *_: stored)
    view = services.reader.view(LOCAL_USER, document_id, cited=of)
    assert (view.content, view.text) == (ViewContent.SAVED_CHANGED, moved.text)


def test_freshness_tells_of_every_document_that_is_still_there(services, turn, handbook):
    document_id = evidence(turn)[1].document_id
    fresh = services.reader.freshness(LOCAL_USER, [turn, turn])
    assert set(fresh) == {source.document_id for source in turn.sources}
    assert fresh[document_id].revision == 1
    changed(services, handbook, "# Leave policy\n\nNothing.\n")
    assert services.reader.freshness(LOCAL_USER, [turn])[document_id].revision == 2
    removed(services, handbook)
    assert document_id not in services.reader.freshness(LOCAL_USER, [turn])
    assert services.reader.freshness(LOCAL_USER, []) == {}


def test_a_page_of_a_pdf_is_drawn_while_the_file_is_the_imported_one(services, tmp_path):
    folder = tmp_path / "pdfs"
    folder.mkdir()
    file = folder / "handbook.pdf"
    file.write_bytes(SAMPLE.read_bytes())
    services.directories.import_directory(LOCAL_USER, folder)
    document = next(one for one in services.search.documents.list() if one.format == "pdf")

    view = services.reader.view(LOCAL_USER, document.id, document.characters, document.characters)
    assert view.page == document.pages[-1][1]
    assert view.has_pictures
    assert services.reader.page_image(LOCAL_USER, document.id, 1).startswith(b"\x89PNG")
    file.write_bytes(b"another file")
    with pytest.raises(UnreadableError, match="has changed"):
        services.reader.page_image(LOCAL_USER, document.id, 1)


def test_what_is_no_pdf_has_no_pictures(services, turn):
    document_id = evidence(turn)[1].document_id
    assert not services.reader.view(LOCAL_USER, document_id).has_pictures
    with pytest.raises(UnreadableError, match="not a PDF"):
        services.reader.page_image(LOCAL_USER, document_id, 1)


def test_what_another_person_put_into_a_conversation_is_not_there(services):
    talk = services.conversations.begin(LOCAL_USER, "Mine").id
    services.uploads.add(LOCAL_USER, [("a.txt", b"My salary is secret.")], conversation_id=talk)
    box = services.uploads.box_of(LOCAL_USER, talk)
    services.imports.run(LOCAL_USER, box, services.uploads.loader(box))
    [document] = services.search.documents.list(box.id)

    assert "salary" in services.reader.view(LOCAL_USER, document.id).text
    with pytest.raises(NotFoundError, match="not in the library"):
        services.reader.view(BERT, document.id)
    with pytest.raises(NotFoundError, match="not in the library"):
        services.reader.page_image(BERT, document.id, 1)
    turn = services.chat.ask(LOCAL_USER, "What is secret?", talk)
    assert document.id in services.reader.freshness(LOCAL_USER, [turn])
    assert document.id not in services.reader.freshness(BERT, [turn])


def test_a_stretch_of_the_stored_text_is_read(services, turn):
    _, source = evidence(turn)
    whole = services.reader.text(LOCAL_USER, source.document_id)
    assert whole.startswith("# Leave policy")
    assert services.reader.text(LOCAL_USER, source.document_id, 2, 7) == "Leave"
    assert services.reader.text(LOCAL_USER, source.document_id, len(whole), 10**9) == ""


def test_the_passages_from_a_place_on_are_those_a_search_gives(services, turn):
    _, source = evidence(turn)
    every = services.reader.passages(LOCAL_USER, source.document_id)
    assert [one.metadata["start"] for one in every] == sorted(
        one.metadata["start"] for one in every
    )
    second = every[1]
    assert services.reader.passages(
        LOCAL_USER, source.document_id, second.metadata["start"], limit=1
    ) == [second]
    found = services.search.search(LOCAL_USER, LEAVE, k=1)[0]
    assert found.id in {one.id for one in every}
    assert services.reader.passages(LOCAL_USER, source.document_id, 10**9) == []


def test_neither_text_nor_passages_of_another_persons_files_are_read(services):
    taken = services.conversations.begin(BERT, "mine").id
    services.uploads.add(
        BERT, [("secret.md", b"# Pay\n\nBert earns a lot.")], conversation_id=taken
    )
    box = services.uploads.box_of(BERT, taken)
    services.imports.run(BERT, box, services.uploads.loader(box))
    own = services.search.retriever(BERT, conversation_id=taken).invoke("Bert earns a lot")[0]
    for read in (services.reader.text, services.reader.passages):
        assert read(BERT, own.metadata["document_id"])
        with pytest.raises(NotFoundError):
            read(LOCAL_USER, own.metadata["document_id"])
