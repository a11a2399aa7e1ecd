"""Messages other than questions, from the chat service to the stored turn, without a model."""

import json

import pytest
from typer.testing import CliRunner

from cli import app
from domain import LOCAL_USER, CitationState, Scope, SearchChoice, SearchMode, TurnState
from services.events import PassagesRetrieved, Searching
from tests.fakes.openai import Text

WORDS = SearchChoice(mode=SearchMode.BM25)


@pytest.fixture
def services(imported):
    return imported(embed=True)


@pytest.mark.parametrize("message", ["Hello!", "Thank you!", "너 누구야?", "何ができますか？"])
def test_small_talk_is_answered_without_a_search_or_a_notice_of_missing_evidence(services, message):
    events = list(services.chat.stream(LOCAL_USER, message))
    assert not any(isinstance(event, Searching | PassagesRetrieved) for event in events)
    turn = events[-1].turn
    assert (turn.state, turn.error) == (TurnState.COMPLETE, "")
    assert (turn.standalone_question, turn.sources, turn.citations) == ("", (), ())
    assert turn.unsupported_sentences == 0
    assert services.relevance.nothing_found(LOCAL_USER, turn) is None


def test_an_introduction_counts_the_documents_and_suggests_questions(services):
    answer = services.chat.ask(LOCAL_USER, "What can you do?").answer
    assert "The library holds 4 documents." in answer
    assert answer.count("\n- ") == 3


@pytest.mark.parametrize(
    ("question", "title", "phrase"),
    [
        ("Summarize the leave policy", "Leave policy", "an extract of “Leave policy”"),
        ("휴가 규정 요약해줘", "휴가 규정", "‘휴가 규정’ 문서를"),
        ("休暇規程を要約して", "休暇規程", "「休暇規程」を書き直した要約ではなく"),
        ("What is “VPN” about?", "VPN", "an extract of “VPN”"),
    ],
)
def test_a_summary_has_only_verified_quotes_of_its_document(services, question, title, phrase):
    turn = services.chat.ask(LOCAL_USER, question, search=WORDS)
    assert phrase in turn.answer
    assert {source.title for source in turn.sources} == {title}
    assert {one.state for one in turn.citations} == {CitationState.VERIFIED}
    assert turn.unsupported_sentences == 0


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Which document says which gateway to choose?", "VPN"),
        ("어느 문서에 신규 입사자 연차가 나와?", "휴가 규정"),
        ("どの文書に新入社員の有給休暇が書かれていますか？", "休暇規程"),
    ],
)
def test_a_question_for_documents_is_answered_with_titles_and_verified_quotes(
    services, question, title
):
    turn = services.chat.ask(LOCAL_USER, question, search=WORDS)
    assert f"**{title}**" in turn.answer
    assert turn.sources[0].title == title
    assert {one.state for one in turn.citations} == {CitationState.VERIFIED}
    assert turn.unsupported_sentences == 0


def test_a_summary_stays_within_the_scope_of_the_conversation(services, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    text = "# Leave policy\n\nThis is the policy of the company before the merger."
    (other / "old.md").write_text(text, encoding="utf-8")
    services.directories.import_directory(LOCAL_USER, other)
    scoped = SearchChoice(Scope(sources=(str(other),)), SearchMode.BM25)
    turn = services.chat.ask(LOCAL_USER, "Summarize the leave policy", search=scoped)
    assert {source.location for source in turn.sources} == {str(other / "old.md")}


def test_a_replay_finds_the_same_passages(services):
    for question in ("Summarize the leave policy", "Which document says which gateway to choose?"):
        turn = services.chat.ask(LOCAL_USER, question, search=WORDS)
        again = services.chat.replay(LOCAL_USER, turn)
        assert [one.passage_id for one in again.sources] == [one.passage_id for one in turn.sources]


def test_a_single_word_is_a_question_about_its_meaning(services):
    turn = services.chat.ask(LOCAL_USER, "WireGuard", search=WORDS)
    assert turn.standalone_question == "What is WireGuard?"
    assert turn.citations[0].title == "VPN"


def test_a_question_that_begins_with_a_greeting_is_searched(services):
    turn = services.chat.ask(LOCAL_USER, "Hi, how many days of annual leave are there?")
    assert turn.sources


@pytest.mark.parametrize("question", ["Hello!", "Summarize the leave policy"])
def test_a_chat_model_answers_every_kind_of_message(imported, model_server, question):
    services = imported(chat=True, embed=True)
    model_server.will(Text("As the model says."))
    assert services.chat.ask(LOCAL_USER, question).answer.startswith("As the model says.")


@pytest.mark.parametrize("message", ["Hello!", "What can you do?", "Summarize", "VPN", "?"])
def test_an_empty_library_answers_every_kind_of_message(build_services, message):
    turn = build_services(embed=True).chat.ask(LOCAL_USER, message)
    assert turn.state is TurnState.COMPLETE
    assert turn.answer


def test_the_command_line_mentions_a_search_only_if_there_was_one(imported):
    services = imported()
    folder = str(services.parts.settings.data_dir)
    greeting = CliRunner().invoke(app, ["ask", "Hello!", "--data-dir", folder])
    assert greeting.exit_code == 0, greeting.output
    assert greeting.stdout.startswith("Hello! ")
    assert "Searched for" not in greeting.stdout
    summary = CliRunner().invoke(app, ["ask", "leave.md 요약해줘", "--json", "--data-dir", folder])
    assert {one["title"] for one in json.loads(summary.stdout)["citations"]} == {"Leave policy"}
