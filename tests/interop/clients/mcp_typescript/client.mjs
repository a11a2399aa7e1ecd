// Calls Footnote with the TypeScript SDK of MCP, and prints what it receives as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { errorOf, resultsOf } from "../mcp_results.mjs";

const { url, key, command, environment, question } = JSON.parse(process.argv[2]);

function overHttp(secret) {
  const requestInit = { headers: { Authorization: `Bearer ${secret}` } };
  return new StreamableHTTPClientTransport(new URL(url), { requestInit });
}

function overStdio() {
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, env: environment, stderr: "ignore" });
}

async function connected(transport) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  return client;
}

async function received(transport) {
  const client = await connected(transport);
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const policy = resources.find((one) => one.title === "Leave policy");
  const read = await client.readResource({ uri: policy.uri });
  const prompt = await client.getPrompt({ name: "ask_library", arguments: { question } });
  const search = await client.callTool({ name: "search_documents", arguments: { query: question } });
  const ask = await client.callTool({ name: "ask_documents", arguments: { question } });
  const wrong = await client.callTool({ name: "search_documents", arguments: { query: question, k: 1000 } });
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "ask_library" },
    argument: { name: "collection", value: "hand" },
  });
  const server = client.getServerVersion().name;
  const instructions = client.getInstructions();
  await client.close();
  return {
    server,
    instructions,
    tools: tools.map((one) => one.name),
    ...resultsOf({ prompts, resources, resourceTemplates, read, prompt, search, ask, wrong, completion }),
  };
}

const http = await received(overHttp(key));
const stdio = await received(overStdio());
console.log(JSON.stringify({ http, stdio, "wrong key": await errorOf(connected(overHttp("fn-wrong"))) }));
