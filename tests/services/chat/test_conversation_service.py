"""The list of conversations: grouping, searching, renaming, deleting, and restoring."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from domain import Principal, Scope, SearchChoice, SearchMode, TurnState
from domain.errors import InputError, NotFoundError
from services.access import Access
from services.chat.conversation_service import MAX_WORDS, Age, ConversationService, _age
from services.export.imported_evidence import ImportedEvidence
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.document_store import Documents
from storage.ledger.ledger_tables import ConversationRow
from storage.ledger.restriction_store import Restrictions
from storage.ledger.source_store import Sources
from tests.fakes.audit import audit_of
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA, BERT = Principal("anna"), Principal("bert")
SEOUL = ZoneInfo("Asia/Seoul")
NOW = datetime(2026, 11, 21, 0, 30, tzinfo=SEOUL)  # still the 20th in UTC


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def conversations(database):
    return Conversations(database)


@pytest.fixture
def service(database, conversations):
    access = Access(Sources(database), Restrictions(database))
    evidence = ImportedEvidence(Documents(database), access)
    conversation_list, audit = ConversationList(database), audit_of(database)
    return ConversationService(conversation_list, conversations, evidence, access, audit)


@pytest.fixture
def ask(conversations):
    """Function that creates a conversation with a question and its answer, and returns its id."""

    def ask(question, answer="", title=None, principal=ANNA):
        conversation = conversations.create(principal, title or question)
        turn = conversations.start_turn(principal, conversation.id, question)
        conversations.finish_turn(principal, replace(turn, answer=answer, state=TurnState.COMPLETE))
        return conversation.id

    return ask


@pytest.fixture
def create_at(database, conversations):
    """Function that creates a conversation with its last turn at a time, and returns its id."""

    def create(moment, title="One"):
        conversation_id = conversations.create(ANNA, title).id
        is_created = ConversationRow.id == conversation_id
        with database.write() as session:
            session.execute(update(ConversationRow).where(is_created).values(updated_at=moment))
        return conversation_id

    return create


def titles_of(service, words="", **options):
    groups = service.grouped(options.pop("principal", ANNA), NOW, words, **options)
    return [one.title for _, group in groups for one in group]


@pytest.mark.parametrize(
    ("moment", "age"),
    [
        (NOW, Age.TODAY),
        (NOW + timedelta(minutes=5), Age.TODAY),
        (datetime(2026, 11, 21, 0, 0, tzinfo=SEOUL), Age.TODAY),
        (datetime(2026, 11, 20, 23, 59, tzinfo=SEOUL), Age.YESTERDAY),
        (datetime(2026, 11, 19, 15, 0, tzinfo=UTC), Age.YESTERDAY),
        (datetime(2026, 11, 19, 14, 59, tzinfo=UTC), Age.WEEK),
        (datetime(2026, 11, 14, 0, 0, tzinfo=SEOUL), Age.WEEK),
        (datetime(2026, 11, 13, 23, 59, tzinfo=SEOUL), Age.OLDER),
    ],
)
def test_age_is_counted_in_calendar_days_of_the_reader(service, create_at, moment, age):
    create_at(moment)
    [(result, _)] = service.grouped(ANNA, NOW)
    assert result is age


@given(st.lists(st.datetimes(datetime(2026, 1, 1), datetime(2026, 12, 31)), max_size=9))
def test_later_conversations_are_never_in_an_older_group(moments):
    ages = [_age(moment.replace(tzinfo=UTC), NOW) for moment in sorted(moments, reverse=True)]
    assert ages == sorted(ages, key=list(Age).index)


def test_groups_are_sorted_newest_first_without_empty_ones(service, create_at):
    create_at(NOW - timedelta(days=40), "Old")
    create_at(NOW - timedelta(minutes=2), "Earlier")
    create_at(NOW - timedelta(minutes=1), "Later")
    groups = [(age, [one.title for one in group]) for age, group in service.grouped(ANNA, NOW)]
    assert groups == [(Age.TODAY, ["Later", "Earlier"]), (Age.OLDER, ["Old"])]


def test_the_list_is_limited_and_the_total_counts_all(service, create_at):
    for minute in range(5):
        create_at(NOW - timedelta(minutes=minute), f"Number {minute}")
    groups = service.grouped(ANNA, NOW, limit=2)
    assert titles_of(service, limit=2) == ["Number 0", "Number 1"]
    assert groups.total == 5
    assert service.grouped(ANNA, NOW, "number", limit=2).total == 5


def test_without_conversations_there_is_no_group(service):
    assert service.grouped(ANNA, NOW) == []
    assert service.grouped(ANNA, NOW, "anything").total == 0


@pytest.mark.parametrize(
    "words",
    [
        "leave",  # the title
        "HOLIDAYS",  # the question
        "twenty",  # the answer
        "twenty leave",  # together, in different places
        "ｔｗｅｎｔｙ　ｆｉｖｅ",  # wide letters and a wide space
        "연차",
        "연",  # part of a word
        "ﾌﾘｶｴﾘ",  # half-width kana
        "100%",
        "snake_case",
        "back\\slash",
        "strasse",
    ],
)
def test_a_search_covers_title_question_and_answer(service, ask, words):
    ask(
        "How many holidays?",
        "Twenty five, 연차는 フリカエリ 100% snake_case back\\slash Straße",
        "Leave",
    )
    ask("Something else entirely")
    assert titles_of(service, words) == ["Leave"]


@pytest.mark.parametrize("words", ["%", "_", "*", "leave sick", "twentyfive", "\\", "'", '"'])
def test_special_characters_are_literal_and_every_word_must_occur(service, ask, words):
    ask("How many holidays?", "Twenty five", "Leave")
    assert titles_of(service, words) == []


def ids(page):
    return [one.id for one in page.items]


def test_words_of_a_withheld_turn_do_not_find_its_conversation(
    service, conversations, database, ask
):
    found = ask("Where is the plan?", "In Busan.", "Plans")
    turn = conversations.turns(ANNA, found)[0]
    conversations.finish_turn(ANNA, replace(turn, basis=("d1", "d2")))
    readers = {"d1": [frozenset(["user:anna"])], "d2": [frozenset(["user:anna"])]}
    restrictions = Restrictions(database)
    restrictions.restrict_documents(readers)
    assert ids(service.page(ANNA, "busan plan", limit=9)) == [found]
    restrictions.restrict_documents({"d2": [frozenset(["user:bert"])]})
    for words in ("busan", "where", "plans busan"):
        assert service.page(ANNA, words, limit=9) == ([], 0)
    assert ids(service.page(ANNA, "plans", limit=9)) == [found]
    assert ids(service.page(ANNA, limit=9)) == [found]
    ask("Is Busan far?")
    assert service.page(ANNA, "busan", limit=1).total == 1


def test_a_search_covers_earlier_versions_of_a_question(service, conversations, ask):
    first = ask("Where is the canteen?", title="Lunch")
    conversations.start_turn(ANNA, first, "Where is the bar?", parent_id=None)
    assert titles_of(service, "canteen") == ["Lunch"]


def test_conversations_are_visible_only_to_their_user(service, ask):
    mine = ask("Mine?", "secret")
    assert titles_of(service, principal=BERT) == []
    assert titles_of(service, "secret", principal=BERT) == []
    for call in (service.delete, service.restore):
        with pytest.raises(NotFoundError):
            call(BERT, mine)
    with pytest.raises(NotFoundError):
        service.rename(BERT, mine, "Taken")
    with pytest.raises(NotFoundError):
        service.export(BERT, mine, "json")
    assert titles_of(service) == ["Mine?"]


def test_a_new_title_is_trimmed_and_found(service, ask):
    renamed = ask("Why?")
    service.rename(ANNA, renamed, "  연차 규정 \n")
    assert titles_of(service, "규정") == ["연차 규정"]


@pytest.mark.parametrize("title", ["", " \n\t", "x" * 201, "half \ud83d a letter"])
def test_an_invalid_title_is_rejected(service, ask, title):
    conversation_id = ask("Why?")
    with pytest.raises(InputError):
        service.rename(ANNA, conversation_id, title)
    assert titles_of(service) == ["Why?"]


@pytest.mark.parametrize("title", ["x", "가" * 200])
def test_the_shortest_and_the_longest_title_are_accepted(service, ask, title):
    service.rename(ANNA, ask("Why?"), title)
    assert titles_of(service) == [title]


def test_of_many_equally_long_words_the_first_ones_count(service, ask):
    words = [f"a{n:02}" for n in range(MAX_WORDS)]
    ask(" ".join(words))
    assert len(titles_of(service, " ".join([*words, *(f"b{n:02}" for n in range(50))]))) == 1


def test_a_deleted_conversation_is_hidden_until_it_is_restored(service, conversations, ask):
    deleted = ask("Why?", "Because")
    service.delete(ANNA, deleted)
    assert titles_of(service) == []
    assert titles_of(service, "because") == []
    for call in (conversations.get, conversations.turns, service.delete):
        with pytest.raises(NotFoundError):
            call(ANNA, deleted)
    with pytest.raises(NotFoundError):
        service.rename(ANNA, deleted, "Back")
    with pytest.raises(NotFoundError):
        service.export(ANNA, deleted, "md")
    service.restore(ANNA, deleted)
    assert titles_of(service) == ["Why?"]
    assert [turn.answer for turn in conversations.turns(ANNA, deleted)] == ["Because"]


def test_deleted_conversations_are_purged_after_thirty_days(service, ask):
    deleted, kept = ask("Deleted?"), ask("Kept?")
    service.delete(ANNA, deleted)
    now = datetime.now(UTC)
    assert service.purge(now + timedelta(days=29)) == 0
    assert service.purge(now + timedelta(days=31)) == 1
    with pytest.raises(NotFoundError):
        service.restore(ANNA, deleted)
    assert titles_of(service) == ["Kept?"]
    assert service.export(ANNA, kept, "json")


def test_search_choices_are_remembered(service, conversations, ask):
    conversation_id = ask("Why?")
    choice = SearchChoice(Scope(collections=("hr",), since="2026-01-01"), SearchMode.BM25, 7, 0.25)
    service.remember(ANNA, conversation_id, choice)
    assert conversations.get(ANNA, conversation_id).search == choice


def test_an_unknown_transcript_format_is_rejected(service, ask):
    with pytest.raises(InputError, match="docx"):
        service.export(ANNA, ask("Why?"), "docx")


def test_a_conversation_created_for_files_remembers_its_search(service, conversations):
    search = SearchChoice(Scope(formats=("md",)), k=3)
    conversation = service.begin(ANNA, "a\n b\ud800 " + "x" * 100, search)
    assert conversations.get(ANNA, conversation.id) == conversation
    assert conversation.search == search
    assert conversation.title.startswith("a b\ufffd xxx")
    assert len(conversation.title) == 60


@pytest.mark.parametrize("words", ["", "days"])
def test_pages_are_consecutive_and_have_the_total(service, ask, words):
    ids = [ask(f"Which days {n}?") for n in range(5)]
    ask("Whose days?", principal=BERT)
    pages = [service.page(ANNA, words, limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [one.id for page in pages for one in page.items] == ids[::-1]
    assert [page.total for page in pages] == [5, 5, 5, 5]
