// Calls Footnote with the MCP client of the AI SDK, and prints what it receives as JSON.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { errorOf, resultsOf } from "../mcp_results.mjs";

const { url, key, command, environment, question } = JSON.parse(process.argv[2]);

function overHttp(secret) {
  return { type: "http", url, headers: { Authorization: `Bearer ${secret}` } };
}

function overStdio() {
  const [program, ...args] = command;
  return new StdioTransport({ command: program, args, env: environment, stderr: "ignore" });
}

async function received(transport) {
  const client = await createMCPClient({ transport });
  const tools = await client.tools();
  const { prompts } = await client.experimental_listPrompts();
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const policy = resources.find((one) => one.title === "Leave policy");
  const read = await client.readResource({ uri: policy.uri });
  const arguments_ = { question };
  const prompt = await client.experimental_getPrompt({ name: "ask_library", arguments: arguments_ });
  const call = (name, values) => tools[name].execute(values, { toolCallId: name, messages: [] });
  const search = await call("search_documents", { query: question });
  const ask = await call("ask_documents", { question });
  const wrong = await call("search_documents", { query: question, k: 1000 });
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "ask_library" },
    argument: { name: "collection", value: "hand" },
  });
  await client.close();
  return {
    server: client.serverInfo.name,
    instructions: client.instructions,
    tools: Object.keys(tools),
    ...resultsOf({ prompts, resources, resourceTemplates, read, prompt, search, ask, wrong, completion }),
  };
}

const http = await received(overHttp(key));
const stdio = await received(overStdio());
console.log(JSON.stringify({ http, stdio, "wrong key": await errorOf(createMCPClient({ transport: overHttp("fn-wrong") })) }));
