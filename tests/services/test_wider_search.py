"""Alternative questions and windows around passages, as configured in the settings."""

import pytest

from domain import LOCAL_USER, CitationState, TurnState
from tests.fakes.openai import Fault, Text

QUESTION = "How many days of holiday?"
QUOTE = "Tell your lead before ten o'clock"
SMALL = {"passage_chars": 100, "passage_overlap_chars": 30}


@pytest.fixture
def build(imported):
    def build(**settings):
        return imported(chat=True, **settings)

    return build


def test_the_answerer_gets_windows_and_its_citations_are_verified_by_span(build, model_server):
    plain = build(**SMALL)
    passages = plain.search.search(LOCAL_USER, "annual leave new employees", k=3)
    services = build(**SMALL, window_passages=2)
    model_server.will(Text(f'Tell them early [1: "{QUOTE}"].'))
    turn = services.chat.ask(LOCAL_USER, "annual leave new employees")

    assert turn.sources[0].passage_id == passages[0].id
    assert turn.sources[0].hits[0].id == passages[0].id
    assert services.turns.list(LOCAL_USER, turn.conversation_id) == [turn]
    assert QUOTE not in passages[0].page_content
    assert QUOTE in turn.sources[0].text
    assert len({source.text for source in turn.sources}) == len(turn.sources)
    for source in turn.sources:
        text = services.library.documents.text(source.document_id)
        assert text[source.start : source.start + len(source.text)] == source.text
    [citation] = turn.citations
    text = services.library.documents.text(citation.document_id)
    assert citation.state is CitationState.VERIFIED
    assert text[citation.start : citation.end] == citation.quote == QUOTE


def test_windows_larger_than_the_token_limit_still_leave_sources(build, handbook, model_server):
    (handbook / "규정.md").write_text("연차 휴가는 신규 입사자에게 15일입니다. " * 40, "utf-8")
    services = build(**SMALL, window_passages=5, passages_tokens=120)
    model_server.will(Text("Yes [1]."))
    turn = services.chat.ask(LOCAL_USER, "신규 입사자 연차 휴가")
    assert turn.sources


def test_alternative_questions_of_the_model_are_searched_beside_the_question(build, model_server):
    services = build(multi_query=2, search_mode="bm25")
    assert "vpn.md" not in locations(services.search.search(LOCAL_USER, QUESTION))
    model_server.will(Text("1. WireGuard gateway\n2. annual leave"), Text("25 days [1]."))
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert {"leave.md", "vpn.md"} <= {name_of(source.location) for source in turn.sources}
    assert QUESTION in model_server.requests[0].body["messages"][0]["content"]
    assert turn.standalone_question == QUESTION


def test_if_the_model_cannot_rephrase_only_the_question_is_searched(build, model_server):
    services = build(multi_query=2)
    model_server.will(Fault(500, "out of memory"), Text("25 days [1]."))
    turn = services.chat.ask(LOCAL_USER, "annual leave new employees")
    assert turn.state is TurnState.COMPLETE
    plain = services.search.search(LOCAL_USER, "annual leave new employees")
    assert [source.passage_id for source in turn.sources] == [passage.id for passage in plain]


def locations(passages):
    return [name_of(passage.metadata["location"]) for passage in passages]


def name_of(location):
    return location.rpartition("/")[2]
