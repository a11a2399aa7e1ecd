// Uploads a file, asks a question, and asks it again as a stream, with openapi-fetch and the types
// of openapi-typescript.
import createClient from "openapi-fetch";

import type { components, paths } from "./schema";

type Token = components["schemas"]["Token"];

const [url, key, question] = process.argv.slice(2);

function formOf(body: { files: unknown[] }): FormData {
  const form = new FormData();
  for (const file of body.files) form.append("files", file as File);
  return form;
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const events = (await new Response(stream).text()).split("\r\n\r\n");
  const tokens = events.filter((event) => event.startsWith("event: token"));
  return tokens.map((event) => (JSON.parse(event.split("data: ")[1]) as Token).text).join("");
}

async function main(): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  const client = createClient<paths>({ baseUrl: url, headers });
  const file = new File(["# Parking\n\nVisitors park on level 2.\n"], "parking.md");
  const uploaded = await client.POST("/api/v1/uploads", {
    params: { query: { box: "Building" } },
    body: { files: [file as unknown as string] }, // openapi-typescript types files as strings
    bodySerializer: formOf,
  });
  const turn = await client.POST("/api/v1/ask", { body: { question } });
  const stream = await client.POST("/api/v1/ask/stream", { body: { question }, parseAs: "stream" });
  if (!uploaded.data || !turn.data || !stream.data) {
    throw new Error([uploaded, turn, stream].map((one) => one.error?.detail).join(" "));
  }
  const streamed = await textOf(stream.data as ReadableStream<Uint8Array>);
  const { accepted } = uploaded.data;
  console.log(JSON.stringify({ accepted, answer: turn.data.answer, streamed }));
}

void main();
