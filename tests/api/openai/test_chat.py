import pytest

from tests.api.openai.talks import ASKED, FOLLOW_UPS, GOOD, QUOTE, SHOWN, prompts_of, said
from tests.conversations import conversations_of
from tests.fakes.openai import Text
from tests.fakes.tool_calls import Call, ToolCalls


def answer(client, messages, **more):
    return client.chat.completions.create(model="footnote", messages=messages, **more)


def test_the_models_are_the_chain_and_the_embedding(client):
    made = client()
    assert [one.id for one in made.models.list()] == ["footnote", "multilingual-e5-small"]
    assert made.models.retrieve("multilingual-e5-small").object == "model"


def test_with_a_chat_model_there_is_an_agent(client):
    assert "footnote-agent" in [one.id for one in client(chat=True).models.list()]


def test_an_answer_has_its_sources_as_text_and_as_fields(client, model_server):
    model_server.will(Text(GOOD, prompt_tokens=42, completion_tokens=9))
    told = answer(client(chat=True), said(ASKED))
    choice, evidence = told.choices[0], told.choices[0].message.footnote
    assert choice.message.content.startswith(f'{SHOWN}\n\nSources:\n[1] Leave policy: "{QUOTE}')
    assert (choice.message.role, choice.finish_reason) == ("assistant", "stop")
    assert [one["state"] for one in evidence["citations"]] == ["verified"]
    assert evidence["sources"][0]["title"] == "Leave policy"
    assert evidence["standalone_question"] == ASKED
    assert (told.usage.prompt_tokens, told.usage.completion_tokens) == (42, 9)
    assert (told.object, told.model) == ("chat.completion", "footnote")
    assert told.id.startswith("chatcmpl-")


def test_without_a_chat_model_the_library_is_quoted_and_no_tokens_are_told(client):
    told = answer(client(), said(ASKED))
    assert QUOTE in told.choices[0].message.content
    assert told.usage.total_tokens == 0


def test_nothing_is_kept(client, model_server):
    model_server.will(Text(GOOD))
    made = client(chat=True)
    answer(made, said(ASKED))
    assert conversations_of(made.services) == []


def test_what_clients_send_besides_changes_nothing(client):
    told = answer(
        client(),
        [{"role": "system", "content": "Answer like a pirate."}, *said(ASKED)],
        temperature=1,
        top_p=1,
        presence_penalty=0,
        frequency_penalty=0,
        max_tokens=5,
        max_completion_tokens=5,
        n=1,
        seed=7,
        stop=["\n"],
        user="u1",
        store=False,
        metadata={"chat": "c1"},
        logit_bias={},
        logprobs=False,
        response_format={"type": "text"},
        tools=[],
        parallel_tool_calls=True,
        reasoning_effort="low",
        service_tier="auto",
        extra_body={"chat_id": "x", "options": {"num_ctx": 2048}},
    )
    assert QUOTE in told.choices[0].message.content


def test_an_answer_can_be_sent_back_as_it_came(client, model_server):
    model_server.will(Text(GOOD), Text("When do unused leave days lapse?"), Text("In March."))
    made = client(chat=True)
    first = answer(made, said(ASKED)).choices[0].message
    back = [*said(ASKED), first.model_dump(), {"role": "user", "content": "When do they lapse?"}]
    told = answer(made, back).choices[0].message
    assert told.footnote["standalone_question"] == "When do unused leave days lapse?"
    condensing = prompts_of(model_server)[1]
    assert SHOWN in condensing
    assert "Sources:\n[1]" not in condensing


@pytest.mark.parametrize(("first", "told", "follow_up", "expected"), FOLLOW_UPS)
def test_follow_ups_are_understood_from_the_messages(client, first, told, follow_up, expected):
    talk = said(follow_up, (first, f"{told}\n\nSources:\n[1] 휴가.md"))
    message = answer(client(), talk).choices[0].message
    assert expected in message.content
    assert message.footnote["standalone_question"] != follow_up
    assert {one["state"] for one in message.footnote["citations"]} == {"verified"}


def test_the_search_can_be_narrowed(client):
    made = client()
    narrowed = {"footnote": {"search": {"scope": {"formats": ["pdf"]}, "k": 2}}}
    told = answer(made, said(ASKED), extra_body=narrowed).choices[0].message
    assert told.footnote["sources"] == []
    only = {"footnote": {"search": {"k": 1}}}
    assert (
        len(answer(made, said(ASKED), extra_body=only).choices[0].message.footnote["sources"]) == 1
    )


def test_an_answer_cut_short_says_so(client, model_server):
    model_server.will(Text("They get", finish_reason="length"))
    told = answer(client(chat=True), said(ASKED)).choices[0]
    assert told.finish_reason == "length"
    assert "FOOTNOTE_CHAT_MAX_TOKENS" in told.message.footnote["error"]


def test_the_agent_searches_in_steps(client, model_server):
    model_server.will(
        ToolCalls(Call("search_documents", {"query": "annual leave"}), text="I look."), Text(GOOD)
    )
    made = client(chat=True)
    told = made.chat.completions.create(model="footnote-agent", messages=said(ASKED))
    message = told.choices[0].message
    assert message.content.startswith(f"{SHOWN}\n\nSources:")
    assert [one["tool"] for one in message.footnote["steps"]] == ["search_documents"]
    assert [one["state"] for one in message.footnote["citations"]] == ["verified"]
