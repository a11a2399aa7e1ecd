import pytest

from tests.api.openai.conversations import (
    ANSWER,
    FOLLOW_UPS,
    QUESTION,
    QUOTE,
    REPLY,
    chat_messages,
    prompts_of,
)
from tests.conversations import conversations_of
from tests.fakes.openai import Text
from tests.fakes.tool_calls import Call, ToolCalls


def answer(client, messages, **more):
    return client.chat.completions.create(model="footnote", messages=messages, **more)


def test_the_chain_and_the_embedding_model_are_listed(build_client):
    client = build_client()
    assert [one.id for one in client.models.list()] == ["footnote", "multilingual-e5-small"]
    assert client.models.retrieve("multilingual-e5-small").object == "model"


def test_the_agent_is_listed_if_there_is_a_chat_model(build_client):
    assert "footnote-agent" in [one.id for one in build_client(chat=True).models.list()]


def test_an_answer_has_its_sources_as_text_and_as_fields(build_client, model_server):
    model_server.will(Text(REPLY, prompt_tokens=42, completion_tokens=9))
    completion = answer(build_client(chat=True), chat_messages(QUESTION))
    choice, evidence = completion.choices[0], completion.choices[0].message.footnote
    assert choice.message.content.startswith(f'{ANSWER}\n\nSources:\n[1] Leave policy: "{QUOTE}')
    assert (choice.message.role, choice.finish_reason) == ("assistant", "stop")
    assert [one["state"] for one in evidence["citations"]] == ["verified"]
    assert evidence["sources"][0]["title"] == "Leave policy"
    assert evidence["standalone_question"] == QUESTION
    assert (completion.usage.prompt_tokens, completion.usage.completion_tokens) == (42, 9)
    assert (completion.object, completion.model) == ("chat.completion", "footnote")
    assert completion.id.startswith("chatcmpl-")


def test_without_a_chat_model_the_library_is_quoted_and_no_tokens_are_counted(build_client):
    completion = answer(build_client(), chat_messages(QUESTION))
    assert QUOTE in completion.choices[0].message.content
    assert completion.usage.total_tokens == 0


def test_no_conversation_is_stored(build_client, model_server):
    model_server.will(Text(REPLY))
    client = build_client(chat=True)
    answer(client, chat_messages(QUESTION))
    assert conversations_of(client.services) == []


def test_other_openai_parameters_are_ignored(build_client):
    completion = answer(
        build_client(),
        [{"role": "system", "content": "Answer like a pirate."}, *chat_messages(QUESTION)],
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
    assert QUOTE in completion.choices[0].message.content


def test_an_answer_can_be_sent_back_unchanged_as_history(build_client, model_server):
    model_server.will(Text(REPLY), Text("When do unused leave days lapse?"), Text("In March."))
    client = build_client(chat=True)
    first = answer(client, chat_messages(QUESTION)).choices[0].message
    messages = [
        *chat_messages(QUESTION),
        first.model_dump(),
        {"role": "user", "content": "When do they lapse?"},
    ]
    message = answer(client, messages).choices[0].message
    assert message.footnote["standalone_question"] == "When do unused leave days lapse?"
    condensing = prompts_of(model_server)[1]
    assert ANSWER in condensing
    assert "Sources:\n[1]" not in condensing


def test_histories_of_other_chats_are_accepted(build_client, model_server):
    model_server.will(Text("When do unused leave days lapse?"), Text("In March."))
    refusal = {"type": "refusal", "refusal": "I can't help with that."}
    messages = [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
        {"role": "assistant", "content": [refusal]},
        {"role": "user", "content": [{"type": "text", "text": text} for text in ("Lapse?", "")]},
    ]
    message = answer(build_client(chat=True), messages).choices[0].message
    assert message.content == "In March."
    assert "I can't help with that." in prompts_of(model_server)[0]


@pytest.mark.parametrize(("question", "reply", "follow_up", "expected"), FOLLOW_UPS)
def test_follow_ups_are_understood_from_the_messages(
    build_client, question, reply, follow_up, expected
):
    messages = chat_messages(follow_up, (question, f"{reply}\n\nSources:\n[1] 휴가.md"))
    message = answer(build_client(), messages).choices[0].message
    assert expected in message.content
    assert message.footnote["standalone_question"] != follow_up
    assert {one["state"] for one in message.footnote["citations"]} == {"verified"}


def test_the_search_can_be_narrowed(build_client):
    client = build_client()
    pdf_only = {"footnote": {"search": {"scope": {"formats": ["pdf"]}, "k": 2}}}
    message = answer(client, chat_messages(QUESTION), extra_body=pdf_only).choices[0].message
    assert message.footnote["sources"] == []
    one_passage = {"footnote": {"search": {"k": 1}}}
    assert (
        len(
            answer(client, chat_messages(QUESTION), extra_body=one_passage)
            .choices[0]
            .message.footnote["sources"]
        )
        == 1
    )


def test_the_reasoning_of_the_model_is_not_in_the_content(build_client, model_server):
    model_server.will(Text(f"<think>Hm, leave.</think>{REPLY}"))
    content = answer(build_client(chat=True), chat_messages(QUESTION)).choices[0].message.content
    assert "[1]" in content
    assert "Hm" not in content


def test_a_truncated_answer_has_finish_reason_length(build_client, model_server):
    model_server.will(Text("They get", finish_reason="length"))
    choice = answer(build_client(chat=True), chat_messages(QUESTION)).choices[0]
    assert choice.finish_reason == "length"
    assert "FOOTNOTE_CHAT_MAX_TOKENS" in choice.message.footnote["error"]


@pytest.mark.parametrize("text", ["They get", ""])
def test_an_answer_stopped_by_a_content_filter_says_so(build_client, model_server, text):
    model_server.will(*[Text(text, finish_reason="content_filter")] * 2)
    client = build_client(chat=True)
    whole = answer(client, chat_messages(QUESTION)).choices[0]
    *_, last = answer(client, chat_messages(QUESTION), stream=True)
    assert whole.finish_reason == last.choices[0].finish_reason == "content_filter"
    assert "content filter" in whole.message.footnote["error"]


def test_the_agent_searches_in_steps(build_client, model_server):
    model_server.will(
        ToolCalls(Call("search_documents", {"query": "annual leave"}), text="I look."), Text(REPLY)
    )
    client = build_client(chat=True)
    completion = client.chat.completions.create(
        model="footnote-agent", messages=chat_messages(QUESTION)
    )
    message = completion.choices[0].message
    assert message.content.startswith(f"{ANSWER}\n\nSources:")
    assert [one["tool"] for one in message.footnote["steps"]] == ["search_documents"]
    assert [one["state"] for one in message.footnote["citations"]] == ["verified"]
