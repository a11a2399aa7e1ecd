import csv
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import (
    LOCAL_USER,
    Citation,
    CitationState,
    FoundPassage,
    Principal,
    RetrievedPassage,
    SearchMode,
    Turn,
    TurnState,
)
from domain.errors import ConflictError, InputError, NotFoundError
from services.evaluation.datasets import load_labeled_set
from services.evaluation.label_service import LabelOrigin
from services.long_work import ignore

BERT = Principal("bert")
LEAVE = "How many days of leave?"


@pytest.fixture
def services(imported):
    return imported(embed=True)


def passages(services, query="annual leave"):
    return services.search.search(LOCAL_USER, query, mode=SearchMode.BM25)


def passage(services, key="leave.md", query="annual leave"):
    return next(one for one in passages(services, query) if one.metadata["key"] == key)


def grades_by_question(services, principal=LOCAL_USER):
    return {
        question.text: question.relevance
        for question in services.labels.labeled_questions(principal).questions
    }


def test_a_label_stores_its_passage_and_span(services):
    result = passage(services)
    label = services.labels.label(LOCAL_USER, f" {LEAVE} ", result.id, 1)
    text = services.library.documents.text(label.document_id)
    assert text[label.start : label.end] == label.text == result.page_content
    assert (label.question, label.grade, label.origin) == (LEAVE, 1, LabelOrigin.LAB)
    assert services.labels.list(LOCAL_USER) == [label]
    assert services.labels.list(BERT) == []


def test_a_label_can_be_removed_by_its_id_and_owner(services):
    label = services.labels.label(LOCAL_USER, LEAVE, passage(services).id, 1)
    label_id = services.labels.id_of(LOCAL_USER, label)
    for person, id_ in ((BERT, label_id), (LOCAL_USER, "nothing")):
        with pytest.raises(NotFoundError, match="there is no label"):
            services.labels.discard(person, id_)
    services.labels.discard(LOCAL_USER, label_id)
    assert services.labels.list(LOCAL_USER) == []


def test_a_passage_of_the_conversation_of_another_user_cannot_be_labeled(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Lunch").id
    file = ("lunch.md", b"# Lunch\n\nLunch is at noon.")
    box = services.uploads.add(LOCAL_USER, [file], conversation_id=conversation_id).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, lambda _: None)
    retriever = services.search.retriever(LOCAL_USER, conversation_id=conversation_id)
    private = next(one for one in retriever.invoke("Lunch") if one.metadata["key"] == "lunch.md")
    assert services.labels.label(LOCAL_USER, LEAVE, private.id, 0)
    with pytest.raises(NotFoundError, match="no passage"):
        services.labels.label(BERT, LEAVE, private.id, 0)


def test_a_label_can_be_replaced_and_removed(services):
    result = passage(services)
    services.labels.label(LOCAL_USER, LEAVE, result.id, 1)
    services.labels.label(LOCAL_USER, LEAVE, result.id, 0)
    assert grades_by_question(services) == {LEAVE: {result.id: 0}}
    services.labels.remove(LOCAL_USER, LEAVE, result.id)
    assert grades_by_question(services) == {}


@pytest.mark.parametrize(
    ("question", "grade"), [("  ", 1), ("x" * 20_001, 1), ("\ud800", 1), ("x", 2), ("x", -1)]
)
def test_an_invalid_label_is_rejected(services, question, grade):
    with pytest.raises(InputError):
        services.labels.label(LOCAL_USER, question, passage(services).id, grade)


def test_an_unknown_passage_cannot_be_labeled(services):
    with pytest.raises(NotFoundError, match="nowhere"):
        services.labels.label(LOCAL_USER, LEAVE, "nowhere", 1)


def test_a_label_moves_with_its_passage_when_the_document_changes_around_it(services, handbook):
    before = passage(services)
    services.labels.label(LOCAL_USER, LEAVE, before.id, 1)
    path = handbook / "leave.md"
    path.write_text("# Preface\n\nA new chapter stands first.\n\n" + path.read_text())
    services.directories.import_directory(LOCAL_USER, handbook)
    after = passage(services)
    assert after.id != before.id
    assert grades_by_question(services) == {LEAVE: {after.id: 1}}


def test_a_label_is_kept_after_a_reindex_with_smaller_passages(services, build_services, handbook):
    sentences = [f"Rule {n} says that doors of room {n} stay shut at night." for n in range(9)]
    (handbook / "doors.md").write_text(" ".join(sentences))
    services.directories.import_directory(LOCAL_USER, handbook)
    original = passage(services, "doors.md", "doors")
    services.labels.label(LOCAL_USER, LEAVE, original.id, 1)
    smaller = build_services(embed=True, passage_chars=100, passage_overlap_chars=0)
    smaller.maintenance.reindex(LOCAL_USER)
    [(passage_id, grade)] = grades_by_question(smaller)[LEAVE].items()
    [smaller_passage] = smaller.library.documents.hydrate([passage_id])
    assert grade == 1
    assert smaller_passage.page_content in original.page_content
    assert len(smaller_passage.page_content) < len(original.page_content)


def test_a_label_follows_its_text_to_another_file(services, handbook):
    services.labels.label(LOCAL_USER, LEAVE, passage(services).id, 1)
    (handbook / "leave.md").rename(handbook / "holidays.md")
    services.directories.import_directory(LOCAL_USER, handbook)
    assert grades_by_question(services) == {LEAVE: {passage(services, "holidays.md").id: 1}}


def test_a_label_without_its_passage_counts_as_lost_until_the_passage_returns(services, handbook):
    vpn_label = services.labels.label(LOCAL_USER, "vpn?", passage(services, "vpn.md", "VPN").id, 1)
    services.labels.label(LOCAL_USER, LEAVE, passage(services).id, 1)
    text = (handbook / "leave.md").read_text()
    (handbook / "leave.md").write_text("# Leave policy\n\nLeave is unlimited now.\n")
    services.directories.import_directory(LOCAL_USER, handbook)
    labeled = services.labels.labeled_questions(LOCAL_USER)
    assert ([one.text for one in labeled.questions], labeled.lost) == ([vpn_label.question], 1)

    (handbook / "leave.md").write_text(text)
    services.directories.import_directory(LOCAL_USER, handbook)
    assert services.labels.labeled_questions(LOCAL_USER).lost == 0


def test_an_export_is_a_labeled_set_over_the_whole_library(services, tmp_path):
    right, wrong = passage(services), passage(services, "vpn.md", "VPN")
    services.labels.label(LOCAL_USER, LEAVE, right.id, 1)
    services.labels.label(LOCAL_USER, LEAVE, wrong.id, 0)
    exported = services.labels.export(LOCAL_USER, tmp_path / "set")
    labeled = load_labeled_set(tmp_path / "set")
    [question] = labeled.questions
    assert (question.text, question.relevance) == (LEAVE, {right.id: 1, wrong.id: 0})
    assert labeled.corpus[right.id] == (right.metadata["title"], right.page_content)
    assert len(labeled.corpus) == exported.passages == services.library.status(LOCAL_USER).passages
    assert (exported.questions, exported.labels, exported.lost) == (1, 2, 0)


def test_an_export_never_overwrites_a_folder(services, tmp_path):
    services.labels.label(LOCAL_USER, LEAVE, passage(services).id, 1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "queries.jsonl").write_text("precious")
    with pytest.raises(InputError, match="not empty"):
        services.labels.export(LOCAL_USER, tmp_path / "full")
    assert (tmp_path / "full" / "queries.jsonl").read_text() == "precious"


def test_an_export_can_be_imported_by_another_user(services, tmp_path):
    right = passage(services)
    services.labels.label(LOCAL_USER, LEAVE, right.id, 1)
    services.labels.export(LOCAL_USER, tmp_path / "set")
    imported = services.labels.import_(BERT, tmp_path / "set")
    assert (imported.questions, imported.labels, imported.unmatched) == (1, 1, 0)
    assert grades_by_question(services, BERT) == grades_by_question(services)
    assert services.labels.list(BERT)[0].origin is LabelOrigin.IMPORT


def test_an_export_and_an_import_leave_out_hidden_documents(services, tmp_path):
    leave, vpn = passage(services), passage(services, "vpn.md", "VPN")
    services.labels.label(LOCAL_USER, LEAVE, leave.id, 1)
    services.labels.label(LOCAL_USER, "vpn?", vpn.id, 1)
    services.labels.export(LOCAL_USER, tmp_path / "all")
    anna, hr = Principal("anna"), [frozenset({"group:hr"})]
    services.access.restrictions.restrict_documents({leave.metadata["document_id"]: hr})
    report = services.labels.import_(anna, tmp_path / "all")
    assert (report.labels, report.unmatched) == (1, 1)
    assert [one.question for one in services.labels.list(anna)] == ["vpn?"]
    services.labels.export(anna, tmp_path / "readable")
    corpus = (tmp_path / "readable" / "corpus.jsonl").read_text(encoding="utf-8")
    assert vpn.id in corpus
    assert leave.id not in corpus


def test_files_of_a_conversation_are_neither_measured_nor_exported(services, tmp_path):
    conversation_id = services.chat.ask(LOCAL_USER, LEAVE).conversation_id
    files = [("canteen.md", b"# Canteen\n\nA bowl of soup costs three euros.")]
    box = services.uploads.add(LOCAL_USER, files, conversation_id=conversation_id).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id, ignore)
    turn = services.chat.ask(LOCAL_USER, "What does a bowl of soup cost?", conversation_id)
    [own] = [source for source in turn.sources if "soup" in source.text]
    services.labels.label(LOCAL_USER, turn.question, own.passage_id, 1)
    assert grades_by_question(services) == {}
    services.labels.label(LOCAL_USER, LEAVE, passage(services).id, 1)
    services.labels.export(LOCAL_USER, tmp_path / "set")
    assert "soup" not in (tmp_path / "set" / "corpus.jsonl").read_text()


def write_set(folder, corpus, judgments, query="days of leave?"):
    folder.mkdir()
    rows = [{"_id": id_, "text": text} for id_, text in corpus.items()]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": query}))
    with (folder / "qrels.tsv").open("w", newline="") as file:
        lines = csv.writer(file, delimiter="\t")
        lines.writerows([("q", "c", "s"), *(("q", *one) for one in judgments)])
    return folder


def test_an_external_set_is_matched_by_text_and_missing_passages_are_counted(services, tmp_path):
    right = passage(services)
    corpus = {
        "a": right.page_content.upper().replace(" ", "\n"),
        "b": "This text is in no document.",
        right.id: "The same id, another text.",
    }
    folder = write_set(tmp_path / "set", corpus, [("a", 2), ("b", 1), ("c", 1), (right.id, 1)])
    imported = services.labels.import_(LOCAL_USER, folder)
    assert (imported.questions, imported.labels, imported.unmatched) == (1, 1, 3)
    assert grades_by_question(services) == {"days of leave?": {right.id: 1}}


def test_labels_need_documents(build_services, tmp_path):
    empty = build_services(embed=True).labels
    folder = write_set(tmp_path / "set", {"a": "x"}, [("a", 1)])
    with pytest.raises(InputError, match="import the documents first"):
        empty.import_(LOCAL_USER, folder)
    for use in (empty.evaluate, lambda principal: empty.export(principal, tmp_path / "out")):
        with pytest.raises(ConflictError, match="mark one"):
            use(LOCAL_USER)
    assert not (tmp_path / "out").exists()


def test_search_is_measured_on_the_library_itself(services):
    first, second = passages(services, "leave")[:2]
    services.labels.label(LOCAL_USER, "leave", first.id, 0)
    services.labels.label(LOCAL_USER, "leave", second.id, 1)
    services.labels.label(LOCAL_USER, "only wrong ones", first.id, 0)
    figures = services.labels.evaluate(LOCAL_USER, [SearchMode.BM25, SearchMode.CONVEX], k=5)
    keyword = figures.rows[0]
    assert [row.mode for row in figures.rows] == [SearchMode.BM25, SearchMode.CONVEX]
    assert (keyword.mrr, keyword.recall.mean) == ((0.5, 0.5, 0.5), 1.0)
    assert 0.6 < keyword.ndcg.mean < 0.7
    assert {"mode", "queries", "ndcg_at_5", "ndcg_at_5_low", "mrr_at_5_high"} <= set(
        keyword.as_row()
    )
    assert "Few labels: 1 question" in figures.notices[0]
    assert "only wrong" in figures.notices[1]


@pytest.fixture
def turn(services):
    cited, other = passages(services, "leave")[:2]
    sources = tuple(
        RetrievedPassage(n, one.id, one.metadata["document_id"], "", "", one.page_content)
        for n, one in enumerate((cited, other), start=1)
    )
    citations = (
        Citation(1, CitationState.VERIFIED, "days", start=1, end=5),
        Citation(2, CitationState.NOT_FOUND, "weeks"),
        Citation(7, CitationState.NO_SUCH_SOURCE, ""),
    )
    return Turn(
        "t1",
        "c1",
        "And days?",
        TurnState.COMPLETE,
        datetime.now(UTC),
        standalone_question=LEAVE,
        sources=sources,
        citations=citations,
    )


def test_a_rating_labels_the_passages_of_verified_citations(services, turn):
    labels = services.labels
    for grade in (1, 0):
        labels.rate(LOCAL_USER, turn, grade)
        assert grades_by_question(services) == {LEAVE: {turn.sources[0].passage_id: grade}}
    assert labels.list(LOCAL_USER)[0].origin is LabelOrigin.CHAT
    assert labels.list(BERT) == []
    labels.rate(LOCAL_USER, turn, None)
    assert grades_by_question(services) == {}


def widen(source, *hits):
    """The source with the text `before <text> after`, and the passages found in it."""
    return replace(source, text=f"before {source.text} after", hits=hits)


def test_the_retrieved_passage_that_contains_the_quote_in_a_window_is_labeled(services, turn):
    source = turn.sources[0]
    end = 7 + len(source.text)
    hits = (FoundPassage("another", 0, 6), FoundPassage(source.passage_id, 7, end))
    wide = replace(turn, sources=(widen(source, *hits),))
    quote = replace(turn.citations[0], start=10, end=14)
    services.labels.rate(LOCAL_USER, replace(wide, citations=(quote,)), 1)
    [label] = services.labels.list(LOCAL_USER)
    assert (label.passage_id, label.text) == (source.passage_id, source.text)
    assert (label.start, label.end) == (7, end)


def test_a_quote_outside_the_retrieved_passage_of_a_window_labels_nothing(services, turn):
    source = turn.sources[0]
    hit = FoundPassage(source.passage_id, 7, 7 + len(source.text))
    quote = replace(turn.citations[0], start=0, end=6)
    wide = replace(turn, sources=(widen(source, hit),), citations=(quote,))
    services.labels.rate(LOCAL_USER, wide, 1)
    assert services.labels.list(LOCAL_USER) == []


def test_removing_a_rating_keeps_labels_from_the_lab(services, turn):
    passage_id = turn.sources[0].passage_id
    services.labels.label(LOCAL_USER, LEAVE, passage_id, 1, LabelOrigin.LAB)
    services.labels.rate(LOCAL_USER, turn, None)
    assert grades_by_question(services) == {LEAVE: {passage_id: 1}}


def test_an_answer_without_a_verified_citation_labels_nothing(services, turn):
    bare = replace(turn, citations=turn.citations[1:])
    services.labels.rate(LOCAL_USER, bare, 1)
    assert services.labels.list(LOCAL_USER) == []
