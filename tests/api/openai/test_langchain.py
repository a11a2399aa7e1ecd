import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from tests.api.openai.conftest import WAIT_S
from tests.api.openai.talks import ASKED, FOLLOW_UPS, GOOD, QUOTE, SHOWN, prompts_of
from tests.fakes.openai import Text


class FootnoteChat(ChatOpenAI):
    """LangChain's model drops every field that OpenAI does not have; this one keeps ours."""

    def _create_chat_result(self, response, generation_info=None):
        result = super()._create_chat_result(response, generation_info)
        for generation, choice in zip(result.generations, response.choices, strict=True):
            generation.message.additional_kwargs["footnote"] = choice.message.footnote
        return result

    def _convert_chunk_to_generation_chunk(self, chunk, *args):
        made = super()._convert_chunk_to_generation_chunk(chunk, *args)
        told = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        if "footnote" in told:
            made.message.additional_kwargs["footnote"] = told["footnote"]
        return made


@pytest.fixture
def chat(client):
    def build(kind=ChatOpenAI, model="footnote", chat=False, **more):
        made = client(chat=chat)
        address = {"base_url": str(made.base_url), "api_key": made.api_key}
        return kind(model=model, max_retries=0, timeout=WAIT_S, **address, **more)

    return build


def test_invoking_gives_the_answer_with_its_sources_as_text(chat, model_server):
    model_server.will(Text(GOOD, prompt_tokens=42, completion_tokens=9))
    told = chat(chat=True, temperature=0.2).invoke(ASKED)
    assert told.content.startswith(f"{SHOWN}\n\nSources:\n[1] Leave policy")
    assert told.usage_metadata["total_tokens"] == 51
    assert told.response_metadata["finish_reason"] == "stop"
    assert "footnote" not in told.additional_kwargs


def test_streaming_gives_the_same_text_in_pieces(chat, model_server):
    model_server.will(Text(*[f"{word} " for word in GOOD.split()]))
    pieces = list(chat(chat=True, stream_usage=True).stream(ASKED))
    whole = sum(pieces[1:], pieces[0])
    assert len(pieces) > 5
    assert f'\n\nSources:\n[1] Leave policy: "{QUOTE}' in whole.content
    assert whole.usage_metadata["total_tokens"] == 18
    assert whole.response_metadata["finish_reason"] == "stop"


@pytest.mark.parametrize("streaming", [False, True])
def test_a_subclass_of_a_few_lines_keeps_the_citations(chat, model_server, streaming):
    model_server.will(Text(GOOD))
    model = chat(FootnoteChat, chat=True)
    pieces = list(model.stream(ASKED)) if streaming else [model.invoke(ASKED)]
    citations = sum(pieces[1:], pieces[0]).additional_kwargs["footnote"]["citations"]
    assert [(one["n"], one["state"]) for one in citations] == [(1, "verified")]


def test_a_conversation_goes_on_from_its_messages(chat, model_server):
    model_server.will(Text(GOOD), Text("When do unused leave days lapse?"), Text("In March."))
    model = chat(chat=True)
    talk = [SystemMessage("Be kind."), HumanMessage(ASKED)]
    talk += [model.invoke(talk), HumanMessage("When do they lapse?")]
    assert isinstance(talk[2], AIMessage)
    assert model.invoke(talk).content == "In March."
    condensing = prompts_of(model_server)[1]
    assert SHOWN in condensing
    assert "Be kind" not in condensing


@pytest.mark.parametrize(("first", "told", "follow_up", "expected"), FOLLOW_UPS)
def test_follow_ups_in_korean_and_japanese_are_understood(chat, first, told, follow_up, expected):
    model = chat(FootnoteChat)
    message = model.invoke([HumanMessage(first), AIMessage(told), HumanMessage(follow_up)])
    assert expected in message.content
    assert message.additional_kwargs["footnote"]["standalone_question"] != follow_up


def test_the_search_is_narrowed_by_the_extra_body(chat):
    narrowed = {"footnote": {"search": {"scope": {"formats": ["pdf"]}}}}
    assert "Sources:" not in chat(extra_body=narrowed).invoke(ASKED).content


def test_embeddings_are_those_of_the_index(client):
    made = client()
    embeddings = OpenAIEmbeddings(
        model="multilingual-e5-small",
        base_url=str(made.base_url),
        api_key=made.api_key,
        check_embedding_ctx_length=False,
        max_retries=0,
    )
    vectors = embeddings.embed_documents(["annual leave", "VPN"])
    assert embeddings.embed_query("annual leave") == pytest.approx(vectors[0])
    assert len(vectors[1]) == 384
