from dataclasses import replace

import pytest

from domain import (
    EXTRACTIVE,
    LOCAL_USER,
    CitationState,
    Principal,
    Scope,
    SearchChoice,
    SearchMode,
    Step,
    StepState,
    TurnState,
)
from domain.errors import InputError, ModelError, ModelUnavailableError, NotFoundError
from services.chat.chain_builder import AnswerChain
from services.chat.withheld_turns import WITHHELD
from services.events import (
    CitationVerified,
    Condensing,
    PassagesRetrieved,
    Searching,
    StepUpdated,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from services.texts import MAX_QUESTION_CHARS
from tests.conversations import conversations_of
from tests.fakes.openai import Fault, Text

GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'
THRESHOLD = SearchChoice(mode=SearchMode.SIMILARITY_SCORE_THRESHOLD, score_threshold=1.5)


@pytest.fixture
def services(imported):
    return imported(chat=True)


@pytest.fixture
def extractive(imported):
    return imported()


def events_of(stream):
    """The events of a stream, and the error that ended it or None."""
    events = []
    try:
        events.extend(stream)
    except ModelError as error:
        return events, error
    return events, None


def test_the_standalone_question_and_sources_precede_the_answer(services, model_server):
    model_server.will(Text(*GOOD.split(" ")))
    events = list(services.chat.stream(LOCAL_USER, "How many days of annual leave?"))
    assert [type(event) for event in events[:3]] == [TurnStarted, Searching, PassagesRetrieved]
    assert {type(event) for event in events[3:-1]} == {TextDelta, CitationVerified}
    assert isinstance(events[-1], TurnFinished)


def test_the_stored_turn_equals_the_streamed_one(services, model_server):
    model_server.will(Text(*[f"{word} " for word in GOOD.split()]))
    events = list(services.chat.stream(LOCAL_USER, "How many days of annual leave?"))
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    turn = events[-1].turn
    assert text.strip() == turn.answer.strip() == "They get 25 days [1]."
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_invented_quotes_and_numbers_are_not_verified(services, model_server):
    invented = 'Nobody works on Fridays [1: "Fridays are free"]. Lunch is free in every office [9].'
    model_server.will(Text(f"{GOOD} {invented}"))
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    states = {(citation.n, citation.state) for citation in turn.citations}
    assert states == {
        (1, CitationState.VERIFIED),
        (1, CitationState.NOT_FOUND),
        (9, CitationState.NO_SUCH_SOURCE),
    }
    assert turn.unsupported_sentences == 2


def test_the_evidence_remains_after_the_document_is_deleted(services, model_server, handbook):
    model_server.will(Text(GOOD))
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    (handbook / "leave.md").unlink()
    services.directories.import_directory(LOCAL_USER, handbook)
    [stored] = services.turns.list(LOCAL_USER, turn.conversation_id)
    assert stored.citations[0].state is CitationState.VERIFIED
    assert "25 days" in stored.citations[0].quote
    assert "25 days" in stored.citations[0].passage_text


def test_a_follow_up_is_condensed_with_the_history(services, model_server):
    model_server.will(Text(GOOD), Text("When do unused annual leave days lapse?"), Text("Then."))
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    second = services.chat.ask(LOCAL_USER, "When do they lapse?", first.conversation_id)
    assert second.standalone_question == "When do unused annual leave days lapse?"
    prompts = [one.body["messages"] for one in model_server.requests if "messages" in one.body]
    condense_prompt = prompts[1][-1]["content"]
    assert "How many days of annual leave?" in condense_prompt
    assert "They get 25 days" in condense_prompt


def test_a_rewrite_that_lost_the_question_is_combined_with_the_typed_question(
    services, model_server
):
    model_server.will(Text("Fine."), Text("What is the annual leave?"), Text("Use WireGuard [1]."))
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    turn = services.chat.ask(LOCAL_USER, "WireGuard gateway?", first.conversation_id)
    assert turn.standalone_question == "WireGuard gateway? (What is the annual leave?)"
    assert "WireGuard" in {word for source in turn.sources for word in source.why.matched_words}


def test_model_usage_and_timings_are_stored(services, model_server):
    model_server.will(Text(GOOD, prompt_tokens=42, completion_tokens=9))
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    assert turn.usage == {"input_tokens": 42, "output_tokens": 9}
    assert turn.timings_ms["found"] <= turn.timings_ms["first_token"] <= turn.timings_ms["total"]


def test_tokens_of_condensing_and_rewording_are_counted(imported, model_server):
    services = imported(chat=True, multi_query=1)
    model_server.will(Text("leave days"), Text(GOOD))
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    model_server.will(
        Text("How many days of sick leave?", prompt_tokens=100, completion_tokens=10),
        Text("days off ill", prompt_tokens=20, completion_tokens=2),
        Text(GOOD, prompt_tokens=3, completion_tokens=1),
    )
    turn = services.chat.ask(LOCAL_USER, "And sick leave?", first.conversation_id)
    assert turn.usage == {"input_tokens": 123, "output_tokens": 13}


@pytest.mark.parametrize(
    ("fault", "expected", "message"),
    [
        (Fault(401, "Incorrect API key"), ModelError, "OPENAI_API_KEY"),
        (Fault(429, "slow down", retry_after="7"), ModelUnavailableError, "7"),
        (Fault(500), ModelUnavailableError, "500"),
    ],
)
def test_a_failing_model_leaves_the_question_and_an_instructive_error(
    imported, model_server, fault, expected, message
):
    services = imported(chat=True, chat_retries=0)
    model_server.will(fault)
    events, error = events_of(services.chat.stream(LOCAL_USER, "How many days?"))
    assert isinstance(error, expected)
    assert message in str(error)
    assert isinstance(events[2], PassagesRetrieved)
    [turn] = services.turns.list(LOCAL_USER, conversations_of(services)[0].id)
    assert (turn.question, turn.state, turn.error) == (
        "How many days?",
        TurnState.FAILED,
        str(error),
    )


@pytest.mark.parametrize("fault", [{"break_after": 1}, {"finish_reason": None}])
def test_an_interrupted_stream_leaves_a_checked_and_marked_partial_answer(
    services, model_server, fault
):
    model_server.will(Text(GOOD, " And the", **fault))
    events, error = events_of(services.chat.stream(LOCAL_USER, "How many days of annual leave?"))
    assert isinstance(error, ModelUnavailableError)
    assert any(isinstance(event, TextDelta) for event in events)
    [turn] = services.turns.list(LOCAL_USER, conversations_of(services)[0].id)
    assert turn.state is TurnState.INCOMPLETE
    assert turn.answer.startswith("They get 25 days [1].")
    assert turn.citations[0].state is CitationState.VERIFIED


def test_an_answer_at_the_length_limit_is_marked_and_names_the_setting(services, model_server):
    model_server.will(Text(GOOD, " And the", finish_reason="length"))
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    assert turn.state is TurnState.INCOMPLETE
    assert "FOOTNOTE_CHAT_MAX_TOKENS" in turn.error
    text, heading, extract = turn.answer.split("\n\n")
    assert text == "They get 25 days [1]. And the"
    assert heading.startswith("**The language model did not finish the text above.")
    assert extract.startswith("“New employees get 25 days of annual leave a year.” [1]")


def test_a_lone_surrogate_from_the_model_is_replaced_and_the_turn_stored(services, model_server):
    model_server.will(Text(GOOD, " Well \ud83d done."))
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]
    assert "Well \ufffd done." in turn.answer


def test_a_failing_condenser_leaves_the_follow_up_as_a_failed_turn(services, model_server):
    model_server.will(Text(GOOD), Fault(500))
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    _, error = events_of(services.chat.stream(LOCAL_USER, "And then?", first.conversation_id))
    stored = services.turns.list(LOCAL_USER, first.conversation_id)[-1]
    assert (stored.question, stored.state, stored.error) == (
        "And then?",
        TurnState.FAILED,
        str(error),
    )


def test_a_long_conversation_is_condensed_with_its_latest_turns_only(
    services, model_server, monkeypatch
):
    monkeypatch.setattr("services.chat.chat_service.HISTORY_TURNS", 1)
    model_server.will(Text("One."), Text("q"), Text("Two."), Text("q"), Text("Three."))
    first = services.chat.ask(LOCAL_USER, "First question?")
    services.chat.ask(LOCAL_USER, "Second question?", first.conversation_id)
    services.chat.ask(LOCAL_USER, "Third question?", first.conversation_id)
    prompts = [one.body["messages"] for one in model_server.requests if "messages" in one.body]
    condense_prompt = prompts[3][-1]["content"]
    assert "Second question?" in condense_prompt
    assert "First question?" not in condense_prompt


def test_a_stopped_answer_keeps_its_text(services, model_server):
    model_server.will(Text("They get 25 days. ", "And ", "more.", pause_s=0.05))
    stream = services.chat.stream(LOCAL_USER, "How many days of annual leave?")
    for event in stream:
        if isinstance(event, TextDelta):
            break
    stream.close()
    [turn] = services.turns.list(LOCAL_USER, conversations_of(services)[0].id)
    assert (turn.state, turn.answer) == (TurnState.STOPPED, "They get 25 days. ")


def test_a_follow_up_can_be_stopped_while_the_model_condenses_it(services, model_server):
    model_server.will(Text(GOOD), Text(*["word "] * 200, pause_s=0.02))
    first = services.chat.ask(LOCAL_USER, "How many days of annual leave?")
    stream = services.chat.stream(LOCAL_USER, "And sick leave?", first.conversation_id)
    started = next(stream)
    assert next(stream) == Condensing()
    stream.close()
    assert model_server.hung_up.wait(5)
    turn = services.turns.get(LOCAL_USER, first.conversation_id, started.turn.id)
    assert (turn.state, turn.answer) == (TurnState.STOPPED, "")


@pytest.mark.parametrize(
    ("question", "quote"),
    [
        ("How many days of annual leave do new employees get?", "25 days"),
        ("신규 입사자의 연차는 며칠인가요?", "15일"),
        ("新入社員の年次有給休暇は何日ですか。", "12日"),
    ],
)
def test_without_a_model_each_language_gets_a_verified_quote(extractive, question, quote):
    turn = extractive.chat.ask(LOCAL_USER, question)
    assert quote in turn.citations[0].quote
    assert turn.citations[0].state is CitationState.VERIFIED
    assert turn.unsupported_sentences == 0
    assert "extractive" in turn.model


def test_without_a_model_a_korean_follow_up_inherits_the_subject(extractive):
    first = extractive.chat.ask(LOCAL_USER, "신규 입사자의 연차는 며칠인가요?")
    second = extractive.chat.ask(LOCAL_USER, "그럼 2년차는요?", first.conversation_id)
    assert "연차" in second.standalone_question
    assert "16일" in second.answer


def test_a_follow_up_refers_to_a_failed_question(extractive, monkeypatch):
    def fail(*_):
        raise ModelError("The model is gone.")

    with monkeypatch.context() as patch:
        patch.setattr("services.chat.chat_service.RunningAnswer.run", fail)
        _, error = events_of(extractive.chat.stream(LOCAL_USER, "신규 입사자의 연차는 며칠인가요?"))
    assert error is not None
    [conversation] = conversations_of(extractive)
    second = extractive.chat.ask(LOCAL_USER, "그럼 2년차는요?", conversation.id)
    assert "연차" in second.standalone_question
    assert "16일" in second.answer


def test_a_follow_up_takes_no_words_from_an_unsupported_answer(extractive):
    history = [("Is there a VPN?", "The VPN pays new employees.")]
    *_, finished = extractive.chat.answer(LOCAL_USER, "How do I install it?", history)
    assert finished.turn.standalone_question == "How do I install it? (VPN)"


@pytest.mark.parametrize(
    ("question", "corrected", "quote"),
    [
        ("How many days of anual leave?", "How many days of annual leave?", "25 days"),
        ("Which gatewey is chosen?", "Which gateway is chosen?", "WireGuard"),
    ],
)
def test_a_misspelled_question_is_stored_as_typed_and_searched_with_corrections(
    extractive, question, corrected, quote
):
    turn = extractive.chat.ask(LOCAL_USER, question)
    assert (turn.question, turn.standalone_question) == (question, corrected)
    assert quote in turn.answer


def test_a_question_without_an_answer_gets_no_citation(extractive):
    turn = extractive.chat.ask(LOCAL_USER, "Which zebra won the chess tournament?")
    assert turn.citations == ()
    assert turn.state is TurnState.COMPLETE
    assert turn.unsupported_sentences == 0


def test_an_empty_library_is_reported(build_services):
    turn = build_services().chat.ask(LOCAL_USER, "How many days?")
    assert turn.sources == ()
    assert turn.answer


@pytest.mark.parametrize("question", ["", "  \n", "x" * (MAX_QUESTION_CHARS + 1), "가" * 100_000])
def test_an_empty_or_too_long_question_is_rejected_and_nothing_is_stored(build_services, question):
    services = build_services()
    with pytest.raises(InputError, match="The question"):
        services.chat.ask(LOCAL_USER, question)
    assert conversations_of(services) == []


def test_a_conversation_is_accessible_only_to_its_user(extractive):
    turn = extractive.chat.ask(LOCAL_USER, "How many days?")
    with pytest.raises(NotFoundError):
        extractive.chat.ask(Principal("somebody"), "And then?", turn.conversation_id)


def test_a_stored_source_explains_its_retrieval(imported):
    services = imported()
    turn = services.chat.ask(LOCAL_USER, "How many days of annual leave do new employees get?")
    stored = services.turns.list(LOCAL_USER, turn.conversation_id)[0]
    explanation = stored.sources[0].why
    assert sum(part.share for part in explanation.parts) == pytest.approx(stored.sources[0].score)
    assert {"annual", "leave"} <= {word.lower() for word in explanation.matched_words}


QUESTION = "How many days of annual leave?"


def last(stream):
    *_, event = stream
    return event.turn


def questions_of(services, conversation_id):
    return [turn.question for turn in services.turns.list(LOCAL_USER, conversation_id)]


def test_a_retry_keeps_both_answers_and_uses_the_history_of_the_branch(services, model_server):
    model_server.will(
        Text("One."), Text("q"), Text("Two."), Text("q"), Text("Two again."), Text("q"), Text("3.")
    )
    chat = services.chat
    first = chat.ask(LOCAL_USER, "First question?")
    second = chat.ask(LOCAL_USER, "Second question?", first.conversation_id)
    again = last(chat.ask_again(LOCAL_USER, first.conversation_id, second.id))
    assert (again.question, again.answer) == ("Second question?", "Two again.")
    versions = services.turns.versions(LOCAL_USER, first.conversation_id)
    assert versions[again.id] == (second.id, again.id)
    chat.ask(LOCAL_USER, "Third question?", first.conversation_id)
    prompts = [one.body["messages"] for one in model_server.requests if "messages" in one.body]
    retry_prompt, third_prompt = prompts[3][-1]["content"], prompts[5][-1]["content"]
    assert "One." in retry_prompt
    assert "Two." not in retry_prompt
    assert "Two again." in third_prompt
    assert "Two." not in third_prompt


def test_another_search_runs_exactly_as_requested_and_both_answers_are_stored(extractive):
    chat = extractive.chat
    first = chat.ask(LOCAL_USER, QUESTION)
    follow_up = chat.ask(LOCAL_USER, "And the gateway?", first.conversation_id)
    turn = last(
        chat.ask_again(
            LOCAL_USER, first.conversation_id, follow_up.id, standalone="Bristol WireGuard"
        )
    )
    assert (turn.question, turn.standalone_question) == ("And the gateway?", "Bristol WireGuard")
    assert turn.standalone_given
    assert turn.sources[0].title == "VPN"
    extractive.turns.show(LOCAL_USER, first.conversation_id, follow_up.id)
    assert extractive.turns.list(LOCAL_USER, first.conversation_id) == [first, follow_up]
    extractive.turns.show(LOCAL_USER, first.conversation_id, turn.id)
    again = last(chat.ask_again(LOCAL_USER, first.conversation_id, turn.id))
    assert again.standalone_question == "Bristol WireGuard"


def test_an_edited_question_starts_a_branch_and_keeps_later_turns(extractive):
    chat = extractive.chat
    first = chat.ask(LOCAL_USER, QUESTION)
    chat.ask(LOCAL_USER, "And sick leave?", first.conversation_id)
    turn = last(
        chat.ask_again(LOCAL_USER, first.conversation_id, first.id, question="Which gateway?")
    )
    assert turn.parent_id is None
    assert questions_of(extractive, first.conversation_id) == ["Which gateway?"]
    extractive.turns.show(LOCAL_USER, first.conversation_id, first.id)
    assert questions_of(extractive, first.conversation_id) == [QUESTION, "And sick leave?"]


@pytest.mark.parametrize("text", ["", "  ", "x" * (MAX_QUESTION_CHARS + 1)])
def test_a_rejected_question_leaves_the_conversation_unchanged(extractive, text):
    turn = extractive.chat.ask(LOCAL_USER, QUESTION)
    turn_arguments = (LOCAL_USER, turn.conversation_id, turn.id)
    for name in ("question", "standalone"):
        with pytest.raises(InputError):
            last(extractive.chat.ask_again(*turn_arguments, **{name: text}))
    assert extractive.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_a_turn_of_another_conversation_or_user_cannot_be_retried(extractive):
    chat = extractive.chat
    turn = chat.ask(LOCAL_USER, QUESTION)
    other = chat.ask(LOCAL_USER, QUESTION)
    for principal, conversation_id in (
        (Principal("somebody"), turn.conversation_id),
        (LOCAL_USER, "none"),
    ):
        with pytest.raises(NotFoundError):
            last(chat.ask_again(principal, conversation_id, turn.id))
    for changes in ({"question": "Why?"}, {"standalone": "Why?"}, {}):
        with pytest.raises(NotFoundError):
            last(chat.ask_again(LOCAL_USER, other.conversation_id, turn.id, **changes))


def test_the_turn_records_the_search_that_was_used(imported):
    services = imported(top_k=3)
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert turn.search == SearchChoice(Scope(), SearchMode.CONVEX, 3)
    threshold = SearchChoice(mode=SearchMode.SIMILARITY_SCORE_THRESHOLD, k=2)
    turn = services.chat.ask(LOCAL_USER, QUESTION, search=threshold)
    assert turn.search == SearchChoice(Scope(), SearchMode.SIMILARITY_SCORE_THRESHOLD, 2, 0.3)
    assert len(turn.sources) <= 2


def test_a_conversation_keeps_its_search_unless_a_question_overrides_it(extractive):
    chat = extractive.chat
    korean = SearchChoice(Scope(sources=("handbook",)), SearchMode.BM25, 1)
    first = chat.ask(LOCAL_USER, "연차", search=korean)
    assert len(first.sources) == 1
    second = chat.ask(LOCAL_USER, "leave", first.conversation_id)
    assert second.search == korean
    third = chat.ask(LOCAL_USER, "leave", first.conversation_id, SearchChoice(k=4))
    assert third.search == SearchChoice(mode=SearchMode.CONVEX, k=4)
    again = last(chat.ask_again(LOCAL_USER, first.conversation_id, first.id))
    assert again.search == korean


def test_a_scope_with_an_unknown_source_is_a_failed_turn_with_a_reason(extractive):
    unknown_source = SearchChoice(Scope(sources=("handbok",)))
    with pytest.raises(InputError, match="handbook"):
        extractive.chat.ask(LOCAL_USER, QUESTION, search=unknown_source)
    [turn] = extractive.turns.list(LOCAL_USER, conversations_of(extractive)[0].id)
    assert (turn.state, turn.question) == (TurnState.FAILED, QUESTION)
    assert "handbok" in turn.error


@pytest.mark.parametrize("search", [SearchChoice(k=0), SearchChoice(k=5000), THRESHOLD])
def test_an_impossible_search_is_rejected_with_an_explanation(extractive, search):
    with pytest.raises(InputError, match="must be between"):
        extractive.chat.ask(LOCAL_USER, QUESTION, search=search)


def test_an_answer_without_a_conversation_uses_the_history_and_is_not_stored(
    services, model_server
):
    model_server.will(Text("How many days of annual leave do new employees get?"), Text(GOOD))
    history = [("What is annual leave?", "Days off with pay.")]
    events = list(services.chat.answer(LOCAL_USER, "How many do I get?", history))
    kinds = [type(event) for event in events]
    assert list(dict.fromkeys(kinds))[:3] == [Condensing, Searching, PassagesRetrieved]
    turn = events[-1].turn
    assert turn.standalone_question == "How many days of annual leave do new employees get?"
    assert [one.state for one in turn.citations] == [CitationState.VERIFIED]
    assert conversations_of(services) == []


@pytest.mark.parametrize("question", ["", " ", "x" * (MAX_QUESTION_CHARS + 1)])
def test_invalid_questions_without_a_conversation_are_rejected(extractive, question):
    with pytest.raises(InputError):
        next(extractive.chat.answer(LOCAL_USER, question))


class FakeAgent:
    """Builds an agent that returns the given pieces."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def build(self, principal, search, conversation_id, options):
        return AnswerChain(self, EXTRACTIVE, 60)

    def stream(self, inputs, config):
        yield from self.pieces


def stream_pieces(services, *pieces):
    services.chat.chains = FakeAgent(*pieces)
    return list(services.chat.stream(LOCAL_USER, "How many days of annual leave?"))


def test_text_before_a_step_is_not_part_of_the_answer(extractive):
    passages = extractive.search.search(LOCAL_USER, "annual leave", k=2)
    running = Step(1, "search_documents", {"query": "annual leave"})
    finished = replace(
        running, state=StepState.DONE, result="two", sources=(1, 2), milliseconds=3.0
    )
    events = stream_pieces(
        extractive,
        {"answer": "Let me look [1"},
        {"step": running},
        {"step": finished, "source_documents": passages[:1]},
        {"source_documents": passages[1:]},
        {"answer": GOOD},
    )
    turn = events[-1].turn
    assert turn.steps == (replace(finished, said="Let me look [1]"),)
    assert turn.answer == "They get 25 days [1]."
    assert [source.n for source in turn.sources] == [1, 2]
    assert [len(event.sources) for event in events if isinstance(event, PassagesRetrieved)] == [
        1,
        2,
    ]
    states = [event.step.state for event in events if isinstance(event, StepUpdated)]
    assert states == [StepState.RUNNING, StepState.DONE]
    assert extractive.turns.list(LOCAL_USER, turn.conversation_id) == [turn]


def test_tool_arguments_and_results_are_stored_as_valid_text_and_json(extractive):
    arguments = {"query": "\ud83d", "k": float("nan"), "in": ("a", {"\udc00": None})}
    step = Step(1, "find\udc00", arguments, StepState.DONE, "half \ud83d")
    start = {"step": replace(step, state=StepState.RUNNING, result="")}
    [stored] = stream_pieces(extractive, start, {"step": step})[-1].turn.steps
    assert stored.arguments == {"query": "\ufffd", "k": "NaN", "in": ["a", {"\ufffd": None}]}
    assert (stored.tool, stored.result) == ("find\ufffd", "half \ufffd")


def test_an_agent_at_its_limit_leaves_an_incomplete_turn_with_a_reason(extractive):
    turn = stream_pieces(extractive, {"answer": "So far"}, {"incomplete": "too many calls"})[
        -1
    ].turn
    assert (turn.state, turn.error) == (TurnState.INCOMPLETE, "too many calls")


def test_a_follow_up_is_withheld_with_the_turn_before_it_unless_it_was_asked_later(extractive):
    anna, hidden = Principal("anna"), [frozenset({"group:hr"})]
    first = extractive.chat.ask(anna, "How many days of annual leave do new employees get?")
    [document] = {one.document_id for one in first.citations}
    follow_up = extractive.chat.ask(anna, "Thank you!", first.conversation_id)
    assert document in follow_up.basis
    extractive.access.restrictions.restrict_documents(dict.fromkeys(first.basis, hidden))
    extractive.chat.ask(anna, "Thank you!", first.conversation_id)
    turns = extractive.turns.list(anna, first.conversation_id)
    assert [one.answer == str(WITHHELD) for one in turns] == [True, True, False]


def test_example_questions_are_withheld_with_their_documents(extractive):
    anna = Principal("anna")
    turn = extractive.chat.ask(anna, "What can you do?")
    assert "For example" in turn.answer
    extractive.access.restrictions.restrict_documents({turn.basis[0]: [frozenset({"group:hr"})]})
    assert extractive.turns.get(anna, turn.conversation_id, turn.id).answer == str(WITHHELD)
