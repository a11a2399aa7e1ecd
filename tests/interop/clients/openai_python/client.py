"""Calls Footnote with OpenAI's client for Python, and prints what it receives as JSON.

Run by the Pythons of .venv-openai-2 and .venv-openai-3 (`make clients`), never imported.
"""

import json
import sys

import openai

url, key, question, embedding_model = sys.argv[1:]
OPTIONS = {"base_url": f"{url}/v1", "max_retries": 0, "timeout": 30}
client = openai.OpenAI(api_key=key, **OPTIONS)
MESSAGES = [{"role": "user", "content": question}]
FUNCTION = {
    "name": "weather",
    "description": "The weather in a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "strict": True,
}
RESULT = "18 degrees in Busan"
LEAVE = {
    "name": "leave",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {"days": {"type": "integer"}},
        "required": ["days"],
        "additionalProperties": False,
    },
}


def evidence(footnote):
    return {
        "citations": [[one["n"], one["state"], one["quote"]] for one in footnote["citations"]],
        "sources": [one["title"] for one in footnote["sources"]],
    }


def complete(messages=MESSAGES, **options):
    return client.chat.completions.create(model="footnote", messages=messages, **options)


def respond(items=question, **options):
    return client.responses.create(model="footnote", input=items, **options)


def chat():
    completion = complete()
    message = completion.choices[0].message
    received = {"text": message.content, "tokens": completion.usage.total_tokens}
    return received | evidence(message.footnote)


def chat_stream():
    chunks = list(complete(stream=True, stream_options={"include_usage": True}))
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    text = "".join(delta.content or "" for delta in deltas)
    received = {"text": text, "tokens": chunks[-1].usage.total_tokens}
    return received | evidence(deltas[-1].footnote)


def responses():
    response = respond()
    received = {"text": response.output_text, "tokens": response.usage.total_tokens}
    return received | evidence(response.footnote)


def responses_stream():
    events = list(respond(stream=True))
    text = "".join(one.delta for one in events if one.type == "response.output_text.delta")
    response = events[-1].response
    received = {"text": text, "tokens": response.usage.total_tokens}
    return received | evidence(response.footnote)


def chat_tools():
    tools = [{"type": "function", "function": FUNCTION}]
    message = complete(tools=tools).choices[0].message
    [call] = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": RESULT}
    answer = complete([*MESSAGES, message, result], tools=tools).choices[0].message
    called = [call.function.name, json.loads(call.function.arguments)]
    return {"call": called, "text": answer.content}


def responses_tools():
    tools = [{"type": "function", **FUNCTION}]
    response = respond(tools=tools)
    [call] = [item for item in response.output if item.type == "function_call"]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": RESULT}
    answer = respond([*MESSAGES, *response.output, result], tools=tools)
    return {"call": [call.name, json.loads(call.arguments)], "text": answer.output_text}


def chat_json():
    completion = complete(response_format={"type": "json_schema", "json_schema": LEAVE})
    return json.loads(completion.choices[0].message.content)


def responses_json():
    response = respond(text={"format": {"type": "json_schema", **LEAVE}})
    return json.loads(response.output_text)


def embeddings():
    vectors = client.embeddings.create(model=embedding_model, input=["leave", "VPN"])
    return [len(one.embedding) for one in vectors.data]


def error_of(call, **options):
    try:
        call(**options)
    except openai.APIStatusError as error:
        kind = type(error).__name__
        return {"kind": kind, "status": error.status_code, "param": error.param, "code": error.code}
    return None


def shorten():
    client.embeddings.create(model=embedding_model, input="leave", dimensions=1)


stranger = openai.OpenAI(api_key="fn-wrong", **OPTIONS)
json.dump(
    {
        "version": openai.__version__,
        "models": [model.id for model in client.models.list()],
        "chat": chat(),
        "chat, streamed": chat_stream(),
        "responses": responses(),
        "responses, streamed": responses_stream(),
        "tools of chat": chat_tools(),
        "tools of responses": responses_tools(),
        "JSON of chat": chat_json(),
        "JSON of responses": responses_json(),
        "embeddings": embeddings(),
        "wrong dimensions": error_of(shorten),
        "unsupported option": error_of(complete, n=2),
        "wrong key": error_of(stranger.models.list),
    },
    sys.stdout,
)
