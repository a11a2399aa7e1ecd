// Calls Footnote with OpenAI's client for Node.js, and prints what it receives as JSON.
import OpenAI from "openai";
import { VERSION } from "openai/version";

const [url, key, question, embeddingModel] = process.argv.slice(2);
const OPTIONS = { baseURL: `${url}/v1`, maxRetries: 0, timeout: 30_000 };
const client = new OpenAI({ apiKey: key, ...OPTIONS });
const MESSAGES = [{ role: "user", content: question }];
const FUNCTION = {
  name: "weather",
  description: "The weather in a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  strict: true,
};
const RESULT = "18 degrees in Busan";
const LEAVE = {
  name: "leave",
  strict: true,
  schema: {
    type: "object",
    properties: { days: { type: "integer" } },
    required: ["days"],
    additionalProperties: false,
  },
};

function evidence(footnote) {
  return {
    citations: footnote.citations.map((one) => [one.n, one.state, one.quote]),
    sources: footnote.sources.map((one) => one.title),
  };
}

function complete(options = {}) {
  return client.chat.completions.create({ model: "footnote", messages: MESSAGES, ...options });
}

function respond(options = {}) {
  return client.responses.create({ model: "footnote", input: question, ...options });
}

async function chat() {
  const { choices, usage } = await complete();
  const { content, footnote } = choices[0].message;
  return { text: content, tokens: usage.total_tokens, ...evidence(footnote) };
}

async function chatStream() {
  const options = { stream: true, stream_options: { include_usage: true } };
  const chunks = [];
  for await (const chunk of await complete(options)) chunks.push(chunk);
  const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
  const text = deltas.map((delta) => delta.content ?? "").join("");
  const tokens = chunks.at(-1).usage.total_tokens;
  return { text, tokens, ...evidence(deltas.at(-1).footnote) };
}

async function responses() {
  const { output_text, usage, footnote } = await respond();
  return { text: output_text, tokens: usage.total_tokens, ...evidence(footnote) };
}

async function responsesStream() {
  const events = [];
  for await (const event of await respond({ stream: true })) events.push(event);
  const deltas = events.filter((event) => event.type === "response.output_text.delta");
  const { usage, footnote } = events.at(-1).response;
  const text = deltas.map((event) => event.delta).join("");
  return { text, tokens: usage.total_tokens, ...evidence(footnote) };
}

async function chatTools() {
  const tools = [{ type: "function", function: FUNCTION }];
  const { message } = (await complete({ tools })).choices[0];
  const [call] = message.tool_calls;
  const result = { role: "tool", tool_call_id: call.id, content: RESULT };
  const answer = await complete({ tools, messages: [...MESSAGES, message, result] });
  const called = [call.function.name, JSON.parse(call.function.arguments)];
  return { call: called, text: answer.choices[0].message.content };
}

async function responsesTools() {
  const tools = [{ type: "function", ...FUNCTION }];
  const { output } = await respond({ tools });
  const call = output.find((item) => item.type === "function_call");
  const result = { type: "function_call_output", call_id: call.call_id, output: RESULT };
  const answer = await respond({ tools, input: [...MESSAGES, ...output, result] });
  return { call: [call.name, JSON.parse(call.arguments)], text: answer.output_text };
}

async function chatJson() {
  const format = { type: "json_schema", json_schema: LEAVE };
  const { choices } = await complete({ response_format: format });
  return JSON.parse(choices[0].message.content);
}

async function responsesJson() {
  const { output_text } = await respond({ text: { format: { type: "json_schema", ...LEAVE } } });
  return JSON.parse(output_text);
}

async function embeddings() {
  const { data } = await client.embeddings.create({ model: embeddingModel, input: ["leave", "VPN"] });
  return data.map((one) => one.embedding.length);
}

async function errorOf(call) {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error;
    const { status, param, code } = error;
    return { kind: error.constructor.name, status, param, code };
  }
  return null;
}

function shorten() {
  return client.embeddings.create({ model: embeddingModel, input: "leave", dimensions: 1 });
}

const stranger = new OpenAI({ apiKey: "fn-wrong", ...OPTIONS });
const models = [];
for await (const model of client.models.list()) models.push(model.id);
console.log(
  JSON.stringify({
    version: VERSION,
    models,
    chat: await chat(),
    "chat, streamed": await chatStream(),
    responses: await responses(),
    "responses, streamed": await responsesStream(),
    "tools of chat": await chatTools(),
    "tools of responses": await responsesTools(),
    "JSON of chat": await chatJson(),
    "JSON of responses": await responsesJson(),
    embeddings: await embeddings(),
    "wrong dimensions": await errorOf(shorten),
    "unsupported option": await errorOf(() => complete({ n: 2 })),
    "wrong key": await errorOf(() => stranger.models.list()),
  }),
);
