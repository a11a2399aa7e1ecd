"""The texts of the agent: its switch, and the steps it takes to an answer."""

from ui.english.plural import Plural

AGENT = "Agent"
AGENT_HELP = (
    "Searches in several steps: the model decides what to search for and to read next, and each "
    "step is shown. It takes more time and tokens than one search."
)
AGENT_NEEDS_MODEL = (
    "The agent needs a chat model, and none is set: set FOOTNOTE_CHAT_MODEL, and OPENAI_BASE_URL "
    "or OPENAI_API_KEY, then start Footnote again."
)

DECIDING = "Deciding what to do next…"
STEPS_AT_WORK = {
    "search_documents": "Searching for {what}",
    "ask_documents": "Asking the documents {what}",
    "open_document": "Opening {what}",
    "list_sources": "Listing the sources",
}
STEPS_ENDED = {
    "search_documents": "Searched for {what}",
    "ask_documents": "Asked the documents {what}",
    "open_document": "Opened {what}",
    "list_sources": "Listed the sources",
}
STEP_ARGUMENT = "{name}: {value}"
STEP_ARGUMENTS = {
    "k": "passages: at most {value}",
    "start": "from character {value}",
}
STEP_RESULT = "What came back"
STEP_BROKEN_OFF = "broken off"
STEP_MORE_DOCUMENTS = Plural("and 1 more document", "and {n} more documents")

STEPS = Plural("1 step", "{n} steps")
STEPS_FAILED = "{n} failed"
NO_STEPS = "Answered without searching"
