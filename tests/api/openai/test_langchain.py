import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from tests.api.openai.conftest import WAIT_S
from tests.api.openai.conversations import ANSWER, FOLLOW_UPS, QUESTION, QUOTE, REPLY, prompts_of
from tests.fakes.openai import Text

pytestmark = pytest.mark.slow


class FootnoteChat(ChatOpenAI):
    """LangChain's model drops every field that OpenAI does not have; this one preserves ours."""

    def _create_chat_result(self, response, generation_info=None):
        result = super()._create_chat_result(response, generation_info)
        for generation, choice in zip(result.generations, response.choices, strict=True):
            generation.message.additional_kwargs["footnote"] = choice.message.footnote
        return result

    def _convert_chunk_to_generation_chunk(self, chunk, *args):
        generation_chunk = super()._convert_chunk_to_generation_chunk(chunk, *args)
        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        if "footnote" in delta:
            generation_chunk.message.additional_kwargs["footnote"] = delta["footnote"]
        return generation_chunk


@pytest.fixture
def chat(build_client):
    def build(kind=ChatOpenAI, model="footnote", chat=False, **more):
        client = build_client(chat=chat)
        address = {"base_url": str(client.base_url), "api_key": client.api_key}
        return kind(model=model, max_retries=0, timeout=WAIT_S, **address, **more)

    return build


def test_invoke_returns_the_answer_with_its_sources_as_text(chat, model_server):
    model_server.will(Text(REPLY, prompt_tokens=42, completion_tokens=9))
    message = chat(chat=True, temperature=0.2).invoke(QUESTION)
    assert message.content.startswith(f"{ANSWER}\n\nSources:\n[1] Leave policy")
    assert message.usage_metadata["total_tokens"] == 51
    assert message.response_metadata["finish_reason"] == "stop"
    assert "footnote" not in message.additional_kwargs


def test_streaming_returns_the_same_text_in_chunks(chat, model_server):
    model_server.will(Text(*[f"{word} " for word in REPLY.split()]))
    chunks = list(chat(chat=True, stream_usage=True).stream(QUESTION))
    whole = sum(chunks[1:], chunks[0])
    assert len(chunks) > 5
    assert f'\n\nSources:\n[1] Leave policy: "{QUOTE}' in whole.content
    assert whole.usage_metadata["total_tokens"] == 18
    assert whole.response_metadata["finish_reason"] == "stop"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_short_subclass_preserves_the_citations(chat, model_server, streaming):
    model_server.will(Text(REPLY))
    model = chat(FootnoteChat, chat=True)
    chunks = list(model.stream(QUESTION)) if streaming else [model.invoke(QUESTION)]
    citations = sum(chunks[1:], chunks[0]).additional_kwargs["footnote"]["citations"]
    assert [(one["n"], one["state"]) for one in citations] == [(1, "verified")]


def test_a_conversation_continues_from_its_messages(chat, model_server):
    model_server.will(Text(REPLY), Text("When do unused leave days lapse?"), Text("In March."))
    model = chat(chat=True)
    messages = [SystemMessage("Be kind."), HumanMessage(QUESTION)]
    messages += [model.invoke(messages), HumanMessage("When do they lapse?")]
    assert isinstance(messages[2], AIMessage)
    assert model.invoke(messages).content == "In March."
    condensing = prompts_of(model_server)[1]
    assert ANSWER in condensing
    assert "Be kind" not in condensing


@pytest.mark.parametrize(("question", "reply", "follow_up", "expected"), FOLLOW_UPS)
def test_follow_ups_in_korean_and_japanese_are_understood(
    chat, question, reply, follow_up, expected
):
    model = chat(FootnoteChat)
    message = model.invoke([HumanMessage(question), AIMessage(reply), HumanMessage(follow_up)])
    assert expected in message.content
    assert message.additional_kwargs["footnote"]["standalone_question"] != follow_up


def test_the_search_is_narrowed_by_the_extra_body(chat):
    pdf_only = {"footnote": {"search": {"scope": {"formats": ["pdf"]}}}}
    assert "Sources:" not in chat(extra_body=pdf_only).invoke(QUESTION).content


def test_embeddings_are_available_to_langchain(build_client):
    client = build_client()
    embeddings = OpenAIEmbeddings(
        model="multilingual-e5-small",
        base_url=str(client.base_url),
        api_key=client.api_key,
        check_embedding_ctx_length=False,
        max_retries=0,
    )
    vectors = embeddings.embed_documents(["annual leave", "VPN"])
    assert embeddings.embed_query("annual leave") == pytest.approx(vectors[0])
    assert len(vectors[1]) == 384
