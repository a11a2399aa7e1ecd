"""Conversations survive a JSON export and import, and invalid files are rejected."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain import (
    Citation,
    CitationState,
    Conversation,
    Explanation,
    FoundPassage,
    Move,
    Principal,
    RetrievedPassage,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Step,
    StepState,
    Turn,
    TurnState,
)
from domain.errors import InputError
from services.access import Access
from services.chat.conversation_service import ConversationService
from services.export.answer_text import safe_answer
from services.export.imported_evidence import ImportedEvidence
from services.export.transcript_json import MAX_BYTES, read_json, to_json
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database
from storage.ledger.document_store import Documents
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources
from tests.fakes.audit import audit_of
from tests.quick import examples

ANNA, BERT = Principal("anna"), Principal("bert")
WHEN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = st.tuples(texts, texts)
counts = st.integers(0, 2**31 - 1)
numbers = st.floats(allow_nan=False, allow_infinity=False)
moments = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
choices = st.builds(
    SearchChoice,
    st.builds(Scope, names, names, names, names, st.just("2026-01-01"), st.just("2026-11-21")),
    st.none() | st.sampled_from(SearchMode),
    st.none() | st.integers(1, 1000),
    st.none() | st.floats(0, 1),
    st.booleans(),
)

explanations = st.builds(
    Explanation,
    numbers,
    st.tuples(st.builds(ScorePart, texts, st.none() | counts, st.none() | numbers, numbers)),
    names,
    st.none() | st.builds(Move, st.none() | numbers, st.none() | counts, st.none() | counts, texts),
    st.dictionaries(texts, texts | st.dictionaries(texts, st.lists(texts, max_size=2)), max_size=2),
)
sources = st.builds(
    RetrievedPassage,
    n=counts,
    passage_id=texts,
    document_id=texts,
    title=texts,
    location=texts,
    text=texts,
    page=st.none() | counts,
    heading_path=names,
    score=st.none() | numbers,
    start=counts,
    why=st.none() | explanations,
    hits=st.tuples(st.builds(FoundPassage, texts, counts, counts)),
    format=texts,
)
citations = st.builds(
    Citation,
    n=counts,
    state=st.sampled_from(CitationState),
    quote=texts,
    page=st.none() | counts,
    heading_path=names,
    start=st.integers(-1, 9),
    quoted_by_answer=st.booleans(),
)
plain = st.none() | st.booleans() | st.integers() | numbers | texts
arguments = st.dictionaries(texts, plain | st.lists(plain, max_size=2), max_size=2)


@st.composite
def steps(draw):
    return tuple(
        Step(
            n,
            draw(texts),
            draw(arguments),
            draw(st.sampled_from(StepState)),
            draw(texts),
            draw(st.tuples(counts)),
            draw(texts),
            draw(st.floats(0, 1e6)),
        )
        for n in range(1, draw(st.integers(0, 2)) + 1)
    )


final_states = st.sampled_from([state for state in TurnState if state is not TurnState.RUNNING])


@st.composite
def conversations(draw):
    ids = [f"t{n}" for n in range(draw(st.integers(0, 4)))]
    turns = [
        draw(
            st.builds(
                Turn,
                id=st.just(turn_id),
                conversation_id=st.just("c"),
                parent_id=st.sampled_from([None, *ids[:n]]),
                state=final_states,
                created_at=moments,
                question=texts,
                standalone_question=texts,
                answer=texts,
                error=texts,
                model=texts,
                sources=st.tuples(sources),
                citations=st.tuples(citations),
                unsupported_sentences=counts,
                timings_ms=st.dictionaries(texts, numbers, max_size=2),
                usage=st.dictionaries(texts, counts, max_size=2),
                search=choices,
                steps=steps(),
            )
        )
        for n, turn_id in enumerate(ids)
    ]
    shown = draw(st.sampled_from(ids)) if ids else ""
    title, search = draw(texts), draw(choices)
    at = draw(moments)
    return Conversation("c", "anna", title, at, draw(moments), shown, search), turns


def with_plain_ids(conversation, turns):
    """The conversation without its owner, and with ids that only number the turns."""
    plain = {turn.id: str(n) for n, turn in enumerate(turns)} | {None: None, "": ""}
    shown = plain[conversation.shown_turn_id]
    plain_conversation = replace(conversation, id="", user_id="", shown_turn_id=shown)
    return plain_conversation, [
        replace(turn, id=plain[turn.id], conversation_id="", parent_id=plain[turn.parent_id])
        for turn in turns
    ]


def unconfirmed(turn):
    """The turn after an import into a library without the documents."""
    blank = {"document_id": "", "location": ""}
    unverified = {"state": CitationState.NOT_VERIFIED, "start": -1, "end": -1}
    citations = tuple(
        replace(one, **blank, **(unverified if one.state is CitationState.VERIFIED else {}))
        for one in turn.citations
    )
    sources = tuple(replace(one, **blank, score=None, why=None, hits=()) for one in turn.sources)
    answer = safe_answer(turn.answer)
    return replace(turn, answer=answer, citations=citations, sources=sources)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return open_database(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def conversation_list(database):
    return ConversationList(database)


@pytest.fixture(scope="module")
def service(database, conversation_list):
    access = Access(Sources(database), Restrictions(database))
    evidence = ImportedEvidence(Documents(database), access)
    conversations, audit = Conversations(database), audit_of(database)
    return ConversationService(conversation_list, conversations, evidence, access, audit)


@given(conversations())
@settings(deadline=None, max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow])
def test_an_imported_conversation_equals_the_exported_one_except_for_unconfirmed_evidence(
    service, conversation_list, exported
):
    conversation, turns = exported
    exported = conversation, [*map(unconfirmed, turns)]
    imported = service.import_json(BERT, to_json(conversation, turns))
    stored, turns = conversation_list.whole(BERT, imported.id)
    assert stored == imported
    assert stored.user_id == "bert"
    assert with_plain_ids(stored, turns) == with_plain_ids(*exported)
    again = read_json(service.export(BERT, imported.id, "json"))
    assert with_plain_ids(*again) == with_plain_ids(*exported)


@pytest.fixture
def file():
    """The parsed JSON file of a conversation with one turn."""
    turn = Turn("t", "c", "Why?", TurnState.COMPLETE, WHEN, answer="Because. [1]")
    source = RetrievedPassage(1, "p", "d", "Title", "a.md", "Because.", score=0.5)
    citation = Citation(1, CitationState.VERIFIED, "Because.")
    step = Step(1, "search_documents", {"query": "why"}, StepState.DONE, "Because.", (1,))
    turn = replace(turn, sources=(source,), citations=(citation,), steps=(step,))
    return json.loads(to_json(Conversation("c", "anna", "Why?", WHEN, WHEN, "t"), [turn]))


def test_the_file_has_a_version_and_no_owner(file):
    assert (file["footnote"], file["version"]) == ("conversation", 1)
    assert "anna" not in json.dumps(file)


def test_importing_twice_creates_two_conversations(service, conversation_list, file):
    data = json.dumps(file).encode()
    first, second = service.import_json(ANNA, data), service.import_json(ANNA, data)
    assert first.id != second.id
    assert (
        conversation_list.whole(ANNA, first.id)[1][0].id
        != conversation_list.whole(ANNA, second.id)[1][0].id
    )


def test_an_unfinished_answer_is_imported_as_incomplete(file):
    file["turns"][0]["state"] = "running"
    _, [turn] = read_json(json.dumps(file).encode())
    assert turn.state is TurnState.INCOMPLETE
    assert "ask again" in turn.error


def test_a_deleted_conversation_can_be_imported(file):
    file["conversation"]["deleted_at"] = WHEN.isoformat()
    conversation, _ = read_json(json.dumps(file).encode())
    assert conversation.deleted_at is None


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("answer", "x" * 200_001, "an answer of 200,001 characters; the limit is 200,000"),
        ("sources", 1_001, "1,001 sources or citations; the limit is 1,000"),
        ("citations", 1_001, "1,001 sources or citations; the limit is 1,000"),
    ],
)
def test_an_answer_that_takes_too_long_to_check_is_rejected(file, field, value, reason):
    [turn] = file["turns"]
    turn[field] = value if isinstance(value, str) else turn[field][:1] * value
    with pytest.raises(InputError, match=reason):
        read_json(json.dumps(file).encode())


def change(*path_and_value):
    """Function that sets the value at a path, and returns the file."""
    *path, last, value = path_and_value

    def apply(file):
        place = file
        for name in path:
            place = place[name]
        place[last] = value
        return json.dumps(file).encode()

    return apply


def drop(*path):
    def apply(file):
        place = file
        for name in path[:-1]:
            place = place[name]
        del place[path[-1]]
        return json.dumps(file).encode()

    return apply


@pytest.mark.parametrize(
    "make_invalid",
    [
        change("version", 2),
        change("version", "1"),
        change("version", None),
        change("footnote", "library"),
        change("conversation", "title", 5),
        change("conversation", "title", "x" * 201),
        change("conversation", "title", "\ud83d"),
        change("conversation", "shown_turn_id", "other"),
        change("conversation", "shown_turn_id", ""),
        change("conversation", "created_at", "2026-11-20T09:00:00"),
        change("conversation", "created_at", "0001-01-01T00:00:00+09:00"),
        change("conversation", "updated_at", "0001-01-01T00:00:00Z"),
        change("conversation", "updated_at", "9999-12-31T23:59:59Z"),
        change("conversation", "created_at", "yesterday"),
        change("conversation", "search", "mode", "guessing"),
        change("conversation", "search", "k", 0),
        change("conversation", "search", "k", 1001),
        change("conversation", "search", "score_threshold", 1.5),
        change("conversation", "search", "scope", "since", "last week"),
        change("turns", 0, "search", "k", -1),
        change("turns", {}),
        change("turns", 0, "parent_id", "t"),
        change("turns", 0, "parent_id", "other"),
        change("turns", 0, "state", "perfect"),
        change("turns", 0, "answer", None),
        change("turns", 0, "answer", "\udc00"),
        change("turns", 0, "unsupported_sentences", 10**30),
        change("turns", 0, "unsupported_sentences", -1),
        change("turns", 0, "unsupported_sentences", True),
        change("turns", 0, "sources", 0, "score", float("nan")),
        change("turns", 0, "sources", 0, "score", "0.5"),
        change("turns", 0, "sources", 0, "heading_path", "A"),
        change("turns", 0, "citations", 0, "state", "true"),
        change("turns", 0, "steps", {}),
        change("turns", 0, "steps", [None]),
        change("turns", 0, "steps", 0, "n", 2),
        change("turns", 0, "steps", 0, "n", 10**30),
        change("turns", 0, "steps", 0, "tool", None),
        change("turns", 0, "steps", 0, "state", "perfect"),
        change("turns", 0, "steps", 0, "arguments", ["query"]),
        change("turns", 0, "steps", 0, "arguments", "k", float("nan")),
        change("turns", 0, "steps", 0, "arguments", "query", "\udc00"),
        change("turns", 0, "steps", 0, "sources", ["1"]),
        change("turns", 0, "steps", 0, "sources", [10**30]),
        change("turns", 0, "steps", 0, "sources", 1),
        change("turns", 0, "steps", 0, "milliseconds", -1.0),
        change("turns", 0, "steps", 0, "milliseconds", float("inf")),
        change("turns", 0, "steps", 0, "result", "\udc00"),
        drop("turns", 0, "steps", 0, "tool"),
        drop("version"),
        drop("turns"),
        drop("turns", 0, "question"),
        lambda file: b"",
        lambda file: b"null",
        lambda file: b"[]",
        lambda file: b"{",
        lambda file: b"[" * 100_000,
        lambda file: b"\xff\xfe",
        lambda file: json.dumps(file).encode("utf-16"),
        lambda file: json.dumps(file)[:-9].encode(),
        lambda file: b" " * (MAX_BYTES + 1),
    ],
)
def test_invalid_files_are_rejected_and_nothing_is_stored(
    service, conversation_list, file, make_invalid
):
    before = conversation_list.count(ANNA)
    with pytest.raises(InputError, match=r"\w"):
        service.import_json(ANNA, make_invalid(file))
    assert conversation_list.count(ANNA) == before


def test_a_file_without_steps_and_formats_is_accepted(file):
    del file["turns"][0]["steps"], file["turns"][0]["sources"][0]["format"]
    for search in (file["turns"][0]["search"], file["conversation"]["search"]):
        del search["by_agent"]
    conversation, [turn] = read_json(json.dumps(file).encode())
    assert turn.steps == ()
    assert turn.sources[0].format == ""
    assert not turn.search.by_agent
    assert not conversation.search.by_agent


def test_an_invalid_step_is_named_by_its_number(file):
    file["turns"][0]["steps"][0]["arguments"] = {"k": float("inf")}
    with pytest.raises(InputError, match=r"steps\.1\.arguments: a number is out of range"):
        read_json(json.dumps(file).encode())


def test_a_duplicate_turn_is_rejected(file):
    file["turns"] *= 2
    with pytest.raises(InputError, match="order"):
        read_json(json.dumps(file).encode())


def test_a_newer_file_asks_for_an_update(file):
    file["version"] = 7
    with pytest.raises(InputError, match="version 7.*update Footnote"):
        read_json(json.dumps(file).encode())


def test_an_invalid_value_is_named_by_its_path(file):
    file["turns"][0]["sources"][0]["n"] = "one"
    with pytest.raises(InputError, match=r"turns\.0\.sources\.0\.n"):
        read_json(json.dumps(file).encode())
