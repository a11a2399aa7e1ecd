// What the tests compare, for any client that returns results as the protocol defines them.

export function resultsOf({ prompts, resources, resourceTemplates, read, prompt, search, ask, wrong, completion }) {
  return {
    prompts: prompts.map((one) => one.name),
    resources: resources.map((one) => one.title),
    templates: resourceTemplates.map((one) => one.uriTemplate),
    document: read.contents[0].text,
    prompt: prompt.messages[0].content.text,
    search: search.structuredContent,
    ask: ask.structuredContent,
    collections: completion.values,
    "wrong argument": wrong.isError ? wrong.content[0].text : "",
  };
}

export async function errorOf(connecting) {
  try {
    await connecting;
  } catch (error) {
    return String(error);
  }
  return "";
}
