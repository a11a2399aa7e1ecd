"""The extract that follows an unusable answer of a chat model; usable answers stay unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableLambda

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import WrittenAnswer
from chains.conversational_retrieval import ConversationalRetrievalChain
from chains.extractive.extractive_answerer import ExtractiveAnswerer
from chains.model_answer import AnswererWithExtract, answer_with_model, is_usable
from domain import CitationState, RetrievedPassage
from services.export.safe_markdown import markdown_to_html
from tests.chains.scripted import (
    FINISH,
    USAGE,
    ScriptedRetriever,
    StreamingChatModel,
    numbered,
)

ENGLISH = "New employees get 25 days of annual leave."
DOCUMENTS = numbered(ENGLISH, "Install WireGuard and choose the Bristol gateway.")
QUESTION = "How many days of annual leave do new employees get?"
QUOTE = f"“{ENGLISH}” [1]"
CITED = 'They get 25 days [1: "25 days of annual leave"].'
UNPROVEN = "They get thirty days of holiday, as everybody does."


def chain_pieces(reply, question=QUESTION, documents=DOCUMENTS):
    """The pieces that the chain yields when the model gives this reply."""
    chain = ConversationalRetrievalChain(
        retriever=ScriptedRetriever(documents=documents),
        condense=RunnableLambda(lambda inputs: inputs["question"]),
        answer=AnswererWithExtract(
            answer_with_model(StreamingChatModel(replies=[reply])), ExtractiveAnswerer()
        ),
        return_source_documents=True,
        return_answer_message=True,
        return_answer_citations=True,
    )
    return list(chain.stream({"question": question}))


def checked_answer(pieces):
    """The checked answer of the pieces."""
    documents = pieces[0]["source_documents"]
    sources = [
        RetrievedPassage(n, "", "", "", "", one.page_content)
        for n, one in enumerate(documents, start=1)
    ]
    answer = WrittenAnswer(sources)
    for piece in pieces[1:]:
        if "answer" in piece:
            answer.read(piece["answer"], piece.get("answer_citations"))
    answer.close()
    return check_answer(answer.pieces, sources, lambda _: None)


def answer_text(reply, **options):
    return checked_answer(chain_pieces(reply, **options)).text


def test_an_unproven_answer_is_followed_by_quotes_under_a_heading():
    result = checked_answer(chain_pieces(UNPROVEN))
    model, heading, quote = result.text.split("\n\n")
    assert model == UNPROVEN
    assert heading.startswith("**The text above cites nothing that was found in the documents.")
    assert quote == QUOTE
    assert [(one.n, one.state, one.quote) for one in result.citations] == [
        (1, CitationState.VERIFIED, ENGLISH)
    ]
    assert (result.statements, result.unsupported_sentences) == (2, 1)


@pytest.mark.parametrize(
    "reply",
    [
        CITED,
        f'{CITED} Nobody works on Fridays [9: "Fridays are free"].',
        "The sources do not answer this question.",
        "제공된 자료에서는 답을 찾을 수 없습니다.",
    ],
)
def test_a_usable_answer_is_unchanged(reply):
    assert all("answer_citations" not in piece for piece in chain_pieces(reply))


@pytest.mark.parametrize(
    "reply",
    [
        "[1] [2] [3] [4]",
        f"{CITED} Bread [7], wine [8] and cheese [9] are free for everybody.",
        "<start_of_turn> model Sources: Leave policy > Leave policy",
        "Leave [1: “thirty days of leave each year”].",
    ],
)
def test_garbage_and_invented_citations_are_followed_by_the_extract(reply):
    assert answer_text(reply).endswith(QUOTE)


@pytest.mark.parametrize("reply", ["", "\n \n"])
def test_an_empty_answer_is_reported_and_followed_by_the_extract(reply):
    text = answer_text(reply)
    assert text.strip().startswith("**The language model wrote no answer.")
    assert text.endswith(QUOTE)


def test_an_empty_answer_to_an_unanswerable_question_reports_both():
    text = answer_text("", question="Who won the football match?")
    assert "wrote no answer" in text
    assert text.endswith("I found no clear answer to this question in the documents.")


def test_nothing_is_added_when_the_extract_finds_nothing():
    assert answer_text(UNPROVEN, question="Who won the football match?") == UNPROVEN


@pytest.mark.parametrize(
    ("question", "document", "heading"),
    [
        ("신규 입사자의 연차는 며칠인가요?", "신규 입사자의 연차는 15일입니다.", "언어 모델 없이"),
        ("新入社員の休暇は何日ですか？", "新入社員の休暇は12日です。", "言語モデルを使わずに"),
    ],
)
def test_the_heading_is_in_the_language_of_the_question(question, document, heading):
    text = answer_text("Thirty days of it.", question=question, documents=numbered(document))
    assert heading in text
    assert text.endswith(f"“{document}” [1]")


@pytest.mark.parametrize(
    "reply",
    [
        "As code:\n\n```\nleave = 30",
        "As code:\n```python\nleave = 30\n",
        "1. As code:\n\n   ```\n   leave = 30",
        "~~~~\n```\nleave = 30 days for all employees",
        "| a | b |\n|---|---|\n| thirty days | holidays |",
        "> Thirty days of holidays",
        "* Thirty days of holidays\n    * Thirty days of sick leave",
        "Leave is `thirty days of holidays",
        'Thirty days of holidays [1: "thirty days',
        "Thirty days of holidays [1",
        "<div><!-- thirty days of holidays",
    ],
)
def test_unfinished_markdown_from_the_model_does_not_swallow_the_extract(reply):
    text = answer_text(reply)
    assert text.endswith(QUOTE)
    html = markdown_to_html(text, lambda n: f"<a>{n}</a>", heading=2)
    last = html.rpartition("<p>")[2]
    assert ENGLISH in last
    assert "<a>1</a>" in last
    assert "<strong>The text above" in html


@given(st.text(alphabet='ab1 \n`~[]"“”:>*|#\\-.', max_size=60))
def test_the_extract_cites_its_quotes_whatever_the_model_writes(reply):
    if is_usable(reply, DOCUMENTS):
        return
    result = checked_answer(chain_pieces(reply))
    assert result.text.endswith(QUOTE)
    last = result.citations[result.marks[-1]]
    assert (last.state, last.quote) == (CitationState.VERIFIED, ENGLISH)


def test_the_answer_message_keeps_the_name_usage_and_finish_reason_of_the_model():
    message = chain_pieces(UNPROVEN)[-1]["answer_message"]
    assert message.usage_metadata == USAGE
    assert message.response_metadata == FINISH


async def test_async_and_unstreamed_answers_equal_streamed_answers():
    inputs = {"question": QUESTION, "input_documents": DOCUMENTS, "chat_history": []}
    answerer = AnswererWithExtract(
        RunnableLambda(lambda _: AIMessageChunk(UNPROVEN)), ExtractiveAnswerer()
    )
    streamed = [piece async for piece in answerer.astream(inputs)]
    assert streamed == list(answerer.stream(inputs))
    assert sum(streamed[1:], streamed[0]) == answerer.invoke(inputs)
    assert [one["extras"]["n"] for one in streamed[-1].additional_kwargs["citations"]] == [1]


def test_closing_the_stream_stops_the_model_without_an_extract():
    model = StreamingChatModel(replies=[UNPROVEN])
    answerer = AnswererWithExtract(answer_with_model(model), ExtractiveAnswerer())
    inputs = {"question": QUESTION, "input_documents": DOCUMENTS, "chat_history": []}
    stream = answerer.stream(inputs)
    next(stream)
    stream.close()
    assert model.closed
