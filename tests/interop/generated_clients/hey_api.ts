// Uploads a file, asks a question, and asks it again as a stream, with the client of hey-api.
import { ask, askStream, uploadFiles } from "./client";
import { client } from "./client/client.gen";

const [url, key, question] = process.argv.slice(2);

async function main(): Promise<void> {
  client.setConfig({ baseUrl: url, auth: key, throwOnError: true });
  const file = new File(["# Parking\n\nVisitors park on level 2.\n"], "parking.md");
  const uploaded = await uploadFiles({
    body: { files: [file] },
    query: { box: "Building" },
    throwOnError: true,
  });
  const turn = await ask({ body: { question }, throwOnError: true });
  let streamed = "";
  const { stream } = await askStream({ body: { question }, sseMaxRetryAttempts: 1 });
  for await (const data of stream) {
    if (typeof data === "object" && "text" in data) streamed += data.text;
  }
  const { accepted } = uploaded.data;
  console.log(JSON.stringify({ accepted, answer: turn.data.answer, streamed }));
}

void main();
