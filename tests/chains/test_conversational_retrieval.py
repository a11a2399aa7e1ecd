"""How the chain streams, tags, budgets, and fails; test_classic_agreement checks its answers."""

from operator import itemgetter

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableGenerator, RunnableLambda

from chains.condensing.condense import RuleCondenser
from chains.conversational_retrieval import ConversationalRetrievalChain
from chains.extractive.extractive_answerer import ExtractiveAnswerer
from tests.chains.scripted import (
    FINISH,
    USAGE,
    ScriptedChatModel,
    ScriptedRetriever,
    StreamingChatModel,
    numbered,
)

DOCUMENTS = numbered("Employees get 15 days.", "New employees get 10 days.")
FOLLOW_UP = {
    "question": "And new employees?",
    "chat_history": [("How much annual leave?", "15 days [1].")],
}
REPLIES = ["How much leave do new employees get?", "They get 10 days."]
EVERYTHING = {
    "return_generated_question": True,
    "return_source_documents": True,
    "return_answer_message": True,
}


def chain_of(model, documents=DOCUMENTS, **options):
    retriever = ScriptedRetriever(documents=documents)
    return ConversationalRetrievalChain.from_llm(model, retriever, **options)


def without_model(answer, condense=None, documents=DOCUMENTS, **options):
    def generate(inputs):
        yield from answer(inputs)

    return ConversationalRetrievalChain(
        retriever=ScriptedRetriever(documents=documents),
        condense=condense or RunnableLambda(itemgetter("question")),
        answer=RunnableGenerator(generate),
        **options,
    )


def test_the_stream_has_the_standalone_question_the_sources_and_the_answer_in_order():
    stream = chain_of(StreamingChatModel(replies=REPLIES), **EVERYTHING).stream(FOLLOW_UP)
    pieces = [piece for piece in stream if piece]
    assert pieces[:2] == [{"generated_question": REPLIES[0]}, {"source_documents": DOCUMENTS}]
    assert pieces[2:-1] == [
        {"answer": "They"},
        {"answer": " get"},
        {"answer": " 10"},
        {"answer": " days."},
    ]
    assert list(pieces[-1]) == ["answer_message"]


def test_closing_the_stream_while_condensing_stops_the_model():
    model = StreamingChatModel(replies=REPLIES)
    stream = chain_of(model, **EVERYTHING).stream(FOLLOW_UP)
    assert next(stream) == {}
    stream.close()
    assert model.closed
    assert len(model.prompts) == 1


async def test_the_async_stream_has_the_same_pieces():
    model = StreamingChatModel(replies=REPLIES)
    options = {"return_generated_question": True, "return_source_documents": True}
    pieces = [piece async for piece in chain_of(model, **options).astream(FOLLOW_UP)]
    model = StreamingChatModel(replies=REPLIES)
    assert pieces == list(chain_of(model, **options).stream(FOLLOW_UP))


def test_the_sources_are_streamed_before_the_answerer_starts():
    received = []

    def answer(inputs):
        received.extend(inputs)
        yield "10 days."

    stream = without_model(answer, return_source_documents=True).stream(FOLLOW_UP)
    assert next(stream) == {"source_documents": DOCUMENTS}
    assert not received
    assert list(stream) == [{"answer": "10 days."}]


def test_without_a_history_the_condenser_is_not_called():
    def condense(_inputs):
        raise AssertionError("condensed a first question")

    chain = without_model(lambda inputs: iter(["Yes."]), RunnableLambda(condense))
    assert chain.invoke({"question": "VPN?", "chat_history": []}) == {"answer": "Yes."}
    assert chain.invoke({"question": "VPN?"}) == {"answer": "Yes."}


def test_a_second_model_can_condense():
    small, large = ScriptedChatModel(replies=["Standalone?"]), ScriptedChatModel(replies=["10."])
    chain = chain_of(large, condense_question_llm=small, return_generated_question=True)
    assert chain.invoke(FOLLOW_UP) == {"generated_question": "Standalone?", "answer": "10."}
    assert (len(small.prompts), len(large.prompts)) == (1, 1)


@pytest.mark.parametrize("model_class", [ScriptedChatModel, StreamingChatModel])
def test_the_answer_message_has_usage_model_name_and_finish_reason(model_class):
    message = chain_of(model_class(replies=REPLIES), **EVERYTHING).invoke(FOLLOW_UP)[
        "answer_message"
    ]
    assert message.text == REPLIES[1]
    assert message.usage_metadata == USAGE
    assert message.response_metadata == FINISH


def test_the_built_in_answerer_returns_citations_next_to_its_text():
    documents = numbered("Employees get 15 days [2].", "New employees get 10 days [1].")
    chain = ConversationalRetrievalChain(
        retriever=ScriptedRetriever(documents=documents),
        condense=RuleCondenser(),
        answer=ExtractiveAnswerer(),
        return_answer_citations=True,
    )
    output = chain.invoke({"question": "How many days do employees get?"})
    quoted = [
        output["answer"][one["start_index"] : one["end_index"]]
        for one in output["answer_citations"]
    ]
    assert quoted == [
        "“Employees get 15 days \\[2\\].” [1]",
        "“New employees get 10 days \\[1\\].” [2]",
    ]
    assert output["answer"] == "\n\n".join(quoted)
    assert [one["extras"]["n"] for one in output["answer_citations"]] == [1, 2]
    plain = chain.model_copy(update={"return_answer_citations": False})
    assert plain.invoke({"question": "How many days do employees get?"}) == {
        "answer": output["answer"]
    }


def test_there_is_no_answer_message_if_no_model_was_called():
    chain = chain_of(
        StreamingChatModel(replies=REPLIES),
        documents=[],
        response_if_no_docs_found="Nothing found.",
        return_answer_message=True,
    )
    assert chain.invoke(FOLLOW_UP) == {"answer": "Nothing found."}


def test_a_silent_answerer_gives_an_empty_answer():
    assert without_model(lambda inputs: iter([])).invoke(FOLLOW_UP) == {"answer": ""}


async def test_condensing_and_answering_have_distinct_tags():
    texts = {"condense": "", "answer": ""}
    chain = chain_of(StreamingChatModel(replies=REPLIES))
    async for event in chain.astream_events(FOLLOW_UP, {"tags": ["mine"]}, version="v2"):
        if event["event"] == "on_chat_model_stream":
            assert "mine" in event["tags"]
            (tag,) = {"condense", "answer"} & set(event["tags"])
            texts[tag] += event["data"]["chunk"].text
    assert texts == {"condense": REPLIES[0], "answer": REPLIES[1]}


class Recorder(BaseCallbackHandler):
    def __init__(self):
        self.started = []

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **kwargs):
        self._note("model", tags, metadata)

    def on_retriever_start(self, serialized, query, *, tags=None, metadata=None, **kwargs):
        self._note(query, tags, metadata)

    def _note(self, name, tags, metadata):
        own_tags = sorted(tag for tag in tags if not tag.startswith("seq:step:"))
        self.started.append((name, own_tags, metadata["turn"]))


@pytest.mark.parametrize("ask", ["invoke", "stream", "ainvoke", "batch"])
async def test_callbacks_tags_and_metadata_reach_every_child_run(ask):
    recorder = Recorder()
    config = {"callbacks": [recorder], "tags": ["mine"], "metadata": {"turn": 7}}
    chain = chain_of(StreamingChatModel(replies=REPLIES))
    result = getattr(chain, ask)([FOLLOW_UP] if ask == "batch" else FOLLOW_UP, config)
    await result if ask == "ainvoke" else list(result)
    assert recorder.started == [
        ("model", ["condense", "mine"], 7),
        (REPLIES[0], ["mine"], 7),
        ("model", ["answer", "mine"], 7),
    ]


def test_a_batch_answers_each_question_independently():
    def answer(inputs):
        for one in inputs:
            yield f"{one['question']} "
            yield str(len(one["chat_history"]))

    first = {"question": "VPN?", "chat_history": []}
    answers = without_model(answer).batch([first, FOLLOW_UP, first])
    assert [output["answer"] for output in answers] == ["VPN? 0", "And new employees? 1", "VPN? 0"]


def test_the_chain_can_follow_another_runnable():
    chain = RunnableLambda(lambda text: {"question": text, "chat_history": []}) | without_model(
        lambda inputs: (one["question"].upper() for one in inputs)
    )
    assert chain.invoke("vpn?") == {"answer": "VPN?"}


def test_the_history_for_condenser_and_answerer_drops_the_oldest_turns_first():
    histories = []

    def answer(inputs):
        histories.extend(one["chat_history"] for one in inputs)
        yield "."

    def condense(inputs):
        histories.append(inputs["chat_history"])
        return "standalone"

    history = [("first", "1"), HumanMessage("second"), AIMessage("2"), ("third", "3")]
    fits = len("\nHuman: second\nAssistant: 2\nHuman: third\nAssistant: 3")
    for limit in (fits, fits - 1, 0):
        chain = without_model(
            answer, RunnableLambda(condense), max_history_tokens=limit, token_counter=len
        )
        chain.invoke({"question": "And?", "chat_history": history})
    assert histories == [history[1:], history[1:], history[3:], history[3:], []]


def test_closing_the_stream_stops_the_model():
    model = StreamingChatModel(replies=REPLIES)
    stream = chain_of(model).stream({"question": "Leave?", "chat_history": []})
    next(stream)
    assert not model.closed
    stream.close()
    assert model.closed


def test_a_failing_answer_yields_its_first_pieces():
    def answer(inputs):
        yield "10 days"
        raise ConnectionError("gone")

    stream = without_model(answer).stream(FOLLOW_UP)
    assert next(stream) == {"answer": "10 days"}
    with pytest.raises(ConnectionError):
        next(stream)


def test_an_invalid_history_is_rejected():
    with pytest.raises(TypeError, match="messages or pairs, not str"):
        chain_of(StreamingChatModel(replies=REPLIES)).invoke(
            {"question": "And?", "chat_history": ["Human: hello"]}
        )


def test_the_rule_condenser_adds_the_terms_of_the_history_without_a_model():
    chain = without_model(lambda inputs: iter(["10 days."]), RuleCondenser())
    assert chain.invoke(FOLLOW_UP) == {"answer": "10 days."}
    assert chain.retriever.queries == ["And new employees? (annual leave)"]


DRIFTED = ["Does the VPN cost anything?", "They get 10 days."]
GUARDED = {
    "guard_rewrite": True,
    "return_generated_question": True,
    "return_searched_questions": True,
}


def test_a_rewrite_without_the_words_of_the_question_is_searched_in_addition():
    model = StreamingChatModel(replies=DRIFTED)
    chain = chain_of(model, **GUARDED)
    pieces = [piece for piece in chain.stream(FOLLOW_UP) if piece]
    both = [DRIFTED[0], "And new employees?"]
    assert pieces[:2] == [{"generated_question": DRIFTED[0]}, {"searched_questions": both}]
    assert chain.retriever.queries == both
    request = model.prompts[1][-1][1]
    assert request.endswith("Question: And new employees? (Does the VPN cost anything?)")


def test_both_result_lists_are_merged_before_truncation():
    results = {DRIFTED[0]: numbered("VPN.", "Cost."), "And new employees?": numbered("10 days.")}
    chain = ConversationalRetrievalChain.from_llm(
        StreamingChatModel(replies=DRIFTED),
        RunnableLambda(results.__getitem__),
        return_source_documents=True,
        guard_rewrite=True,
    )
    sources = chain.invoke(FOLLOW_UP)["source_documents"]
    assert [document.page_content for document in sources] == ["VPN.", "10 days."]


async def test_async_searches_and_answers_are_the_same():
    chains = [chain_of(StreamingChatModel(replies=DRIFTED), **GUARDED) for _ in range(2)]
    assert await chains[0].ainvoke(FOLLOW_UP) == chains[1].invoke(FOLLOW_UP)
    assert chains[0].retriever.queries == chains[1].retriever.queries
    assert len(chains[0].retriever.queries) == 2


def test_a_rewrite_with_a_word_of_the_question_is_searched_alone():
    chain = chain_of(StreamingChatModel(replies=REPLIES), **GUARDED)
    assert chain.invoke(FOLLOW_UP)["searched_questions"] == REPLIES[:1]
    assert chain.invoke({"question": "VPN?"})["searched_questions"] == ["VPN?"]


def test_without_the_guard_only_the_rewrite_is_searched_as_in_the_classic_chain():
    chain = chain_of(StreamingChatModel(replies=DRIFTED), return_searched_questions=True)
    assert chain.invoke(FOLLOW_UP)["searched_questions"] == DRIFTED[:1]
    assert chain.retriever.queries == DRIFTED[:1]


def test_with_the_guard_the_typed_question_can_still_be_the_one_answered():
    model = StreamingChatModel(replies=DRIFTED)
    chain_of(model, rephrase_question=False, **GUARDED).invoke(FOLLOW_UP)
    assert model.prompts[1][-1][1].endswith("Question: And new employees?")


def respell(question):
    return question.replace("leav ", "leave ")


def test_the_corrected_spelling_is_searched_and_answered():
    received = []

    def answer(inputs):
        received.extend((one["question"], one["typed_question"]) for one in inputs)
        yield "15 days."

    chain = without_model(answer, respell=RunnableLambda(respell), return_searched_questions=True)
    output = chain.invoke({"question": "How much leav do I get?"})
    assert output["searched_questions"] == ["How much leave do I get?"]
    assert chain.retriever.queries == ["How much leave do I get?"]
    assert received == [("How much leave do I get?", "How much leav do I get?")]


async def test_async_searches_correct_the_question_but_not_a_standalone_question():
    replies = ["15 days.", "10 days."]
    chain = chain_of(
        StreamingChatModel(replies=replies),
        respell=RunnableLambda(respell),
        return_searched_questions=True,
    )
    output = await chain.ainvoke({"question": "How much leav do I get?"})
    assert output["searched_questions"] == ["How much leave do I get?"]
    output = await chain.ainvoke({"question": "?", "standalone_question": "leav days"})
    assert output["searched_questions"] == ["leav days"]


WITH_STANDALONE = {**FOLLOW_UP, "standalone_question": "annual leave, new employees"}


@pytest.mark.parametrize("guard_rewrite", [True, False])
def test_a_standalone_question_in_the_input_is_searched_unchanged(guard_rewrite):
    def condense(_inputs):
        raise AssertionError("condensed a standalone question")

    received = []

    def answer(inputs):
        received.extend((one["question"], one["typed_question"]) for one in inputs)
        yield "10 days."

    chain = without_model(
        answer,
        RunnableLambda(condense),
        guard_rewrite=guard_rewrite,
        return_searched_questions=True,
    )
    assert chain.invoke(WITH_STANDALONE)["searched_questions"] == ["annual leave, new employees"]
    assert received == [("annual leave, new employees", "And new employees?")]


async def test_async_searches_use_the_standalone_question_in_the_input():
    chain = chain_of(StreamingChatModel(replies=["10 days."]), return_searched_questions=True)
    output = await chain.ainvoke(WITH_STANDALONE)
    assert output == {"searched_questions": ["annual leave, new employees"], "answer": "10 days."}


@pytest.mark.parametrize(
    ("typed", "standalone", "expected"),
    [
        ("연차는?", "annual leave days", "연차는? (annual leave days)"),
        ("And in Japan?", "annual leave in Japan?", "annual leave in Japan?"),
        ("연차는?", "연차는? (annual leave days per year)", "연차는? (annual leave days per year)"),
    ],
)
def test_the_model_sees_the_typed_question_if_another_language_is_searched(
    typed, standalone, expected
):
    model = ScriptedChatModel(replies=["15일입니다."])
    chain_of(model).invoke({"question": typed, "standalone_question": standalone})
    assert model.prompts[-1][-1][1].endswith(f"Question: {expected}")
