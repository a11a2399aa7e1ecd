"""The texts of the frame and of the chat page."""

from domain import EXTRACTIVE
from ui.text.english.text_kinds import Plural, fixed

SCOPE_EVERYWHERE = "Search in: everything"
SCOPE_LABEL = "Search in: {what}"
SCOPE_COMMA = ", "
SCOPE_HELP = "What the next question in this conversation searches"
SCOPE_SOURCES = "Sources"
SOURCES_COUNTED = Plural("1 source", "{n} sources")
SCOPE_CATALOGS = (
    "Without a selection, all documents are searched, but no catalogs. The places of a catalog are"
    " searched only if you select it."
)
SCOPE_COLLECTIONS = "Collections"
SCOPE_FORMATS = "File types"
SCOPE_LABELS = "Labels"
SCOPE_SINCE = "Changed since"
SCOPE_UNTIL = "Changed until"
SCOPE_ANY = "All"
SCOPE_OWN = "Files of this conversation"
SCOPE_DELETED = "Deleted source"
SCOPE_N_SOURCES = Plural("1 source", "{n} sources")
SCOPE_N_COLLECTIONS = Plural("1 collection", "{n} collections")
SCOPE_N_LABELS = Plural("1 label", "{n} labels")
SCOPE_FROM = "since {day}"
SCOPE_TO = "until {day}"
SCOPE_RESET = "Reset"
SCOPE_NOT_SEARCHED = "The previous scope applies until you correct this."
ADVANCED = "Advanced"
ADVANCED_MODE = "Search mode"
ADVANCED_PASSAGES = "Passages per answer"
ADVANCED_THRESHOLD = "Minimum relevance"
AS_SET = "Default: {value}"

READING_FILES = Plural("Reading 1 file", "Reading {n} files")
FILES_READY = "The files are ready: you can ask about them"
FILES_SOME_FAILED = "Some files could not be read"
FILES_WAIT = "waiting"
FILE_STAGES = {
    "listing": "looking for changes",
    "reading": "reading",
    "splitting": "splitting",
    "embedding": "embedding",
    "writing": "writing",
    "removing": "cleaning up",
    "indexing": "indexing",
}
FILE_EMBEDDING = "embedding {part}/{parts}"
FILE_READY = Plural("ready: 1 passage", "ready: {n} passages")
FILE_UNCHANGED = "ready: already imported"
FILE_REJECTION = "rejected: {reason}"
FILE_FAILED = "could not be read: {reason}"
FILES_UNDER_WAY = "Files of this conversation are still being imported."
FILES_OF_CONVERSATION = "Files ({n})"
FILES_NOTE = "Only this conversation can search these files."
FILES_DISMISS = "Dismiss"
FILE_DELETE = "Remove {name} from this conversation"

NOTHING_TITLE = "What was searched"
NOTHING_SEARCHED = "Searched for"
NOTHING_WHERE = "Where"
NOTHING_HOW = "How"
NOTHING_EVERYWHERE = "everything"
NOTHING_MODE = "{mode}: {note}"
NOTHING_BEST = "Closest passage"
BEST_BELOW = "relevance {best}, below the minimum of {threshold}"
WIDEN_MODE = "Search again: {mode}"
WIDEN_THRESHOLD = "Search again with minimum relevance {threshold}"
WIDEN_SCOPE = "Search everything"
WIDEN_EDIT = "Edit the question"
WIDEN_ASK = "Search again with this question"

SUGGESTED = "Questions about the library ({documents}), for example:"
FIRST_IMPORT = "Documents are being imported"
FIRST_IMPORT_HOW = "You can ask now. The answer follows as soon as the documents are there."
FIRST_IMPORT_WAIT = "Waiting until the documents are imported"
FIRST_IMPORT_FAILED = (
    "Your question was not asked, because the first import added no documents. Import documents on"
    " the import page, then send the question again. Reason: {reason}"
)
FIRST_IMPORT_EMPTY = (
    "Your question was not asked, because the first import added no documents. Import documents on"
    " the import page, then send the question again."
)
FIRST_IMPORT_PAUSED = (
    "Your question was not asked, because the first import is paused. Resume it on the import"
    " page, then send the question again."
)
ADD_DOCUMENTS = "Add documents"
DROP_FILES = (
    "To ask about a file in one conversation only, drop it on the box below. Only that conversation"
    " can search it."
)
SAMPLES_REMOVE = "Remove the sample documents"
SAMPLES_REMOVE_EFFECT = (
    "The sample documents leave the library and are no longer searched. Answers that cite them keep"
    " their quotes. Your own documents stay, and you can import the samples again on the import"
    " page."
)
SAMPLES_REMOVE_NOW = "Remove them"
SAMPLES_REMOVING = "Removing the sample documents"
EMPTY_HOW = "Import your own documents, or try Footnote with the sample documents first."
EMPTY_IMPORT = "Import documents"
EMPTY_SAMPLES = "Import the sample documents"
SAMPLES_IMPORTING = "Importing the sample documents: {done} of {total}"
SAMPLES_LISTING = "Importing the sample documents"


NEW_CONVERSATION = "New conversation"
UNTITLED = "Untitled"
LOST_CONVERSATION = "This conversation does not exist. Ask a question to start a new one."

SEARCH_CONVERSATIONS = "Search conversations"
CONVERSATIONS_FOUND = Plural("1 conversation found", "{n:,} conversations found")
NO_CONVERSATION_FOUND = "No conversation contains all of these words."
AGES = {
    "today": "Today",
    "yesterday": "Yesterday",
    "7 days": "Last 7 days",
    "older": "Older",
}
MORE_CONVERSATIONS = "Show more"
CONVERSATION_RETENTION = Plural(
    "Conversations are permanently deleted after 1 day without a question.",
    "Conversations are permanently deleted after {n} days without a question.",
)

CONVERSATION_MENU = "Rename, share, export, or delete: {title}"
CONVERSATION_ACTIONS = {
    "rename": "Rename",
    "share": "Share",
    "export": "Export",
    "delete": "Delete",
}
RENAME_TITLE = "Rename the conversation"
NEW_TITLE = "Title"
KEEP_TITLE = "Rename"
SHARE_CONVERSATION = "Share"
SHARE_TITLE = "Share the conversation"
LINK_NOTE = (
    "Everyone who can sign in here and has the link can read this conversation, including what you"
    " ask later. Readers see it only up to the first answer that uses a document they may not read."
)
CREATE_LINK = "Create a link"
REMOVE_LINK = "Remove the link"
SHARED_CONVERSATION = "Shared conversation"
SHARED_BY = "{name} shares this conversation. You can read it, but not change it."
SHARED_WITHHELD = Plural(
    "1 more answer is withheld, because it uses documents that you may not read or that were"
    " removed.",
    "{n} more answers are withheld, because they, or an answer before them, use documents that you"
    " may not read or that were removed.",
)
SHARED_EMPTY = "There is no answer in this conversation yet."
LEAVE_SHARED = "Ask a question of your own"
FILE_CONTENTS = (
    "title and start of the conversation, the questions, and what was searched for",
    "the answers, and why one is missing or incomplete",
    "the cited sources, with the quotes and the results of their check",
    "the sources that were also found, without quotes",
    "of each source: title, headings, page, version, and web address or file name",
    "the agent's steps: notes, tools with their arguments, and the beginnings of results",
    "of each answer: time, model, search settings, durations, and tokens",
)
SHARE_NOTE = (
    "The file is a copy of this conversation as shown now. It opens in any browser, can be printed,"
    " and needs neither Footnote nor a network. It contains:"
)
SHARE_WARNING = (
    "All of this can be read by everyone who has the file, even without access to the documents:"
    " send it only to readers who may see it."
)
SHARE_DOWNLOAD = "Download the file"
EXPORT_TITLE = "Export the conversation"
EXPORT_FORMS = {
    "md": fixed("Markdown"),
    "html": fixed("HTML"),
    "json": fixed("JSON"),
}
EXPORT_NOTE = (
    "JSON contains all versions of the questions, with whole passages and full paths, and can be"
    " imported again. Markdown and HTML contain what is shown now:"
)
DELETE_TITLE = "Delete the conversation?"
DELETE_NOTE = Plural(
    "You can undo this right afterward. “{title}” is permanently deleted after 1 day.",
    "You can undo this right afterward. “{title}” is permanently deleted after {n} days.",
)
DELETE = "Delete"
CANCEL = "Cancel"
DELETED = "“{title}” was deleted."
UNDO = "Undo"

IMPORT_CONVERSATION = "Import a conversation"
IMPORT_CONVERSATION_FILE = "A JSON file exported from Footnote"
CONVERSATION_IMPORTED = (
    "“{title}” was imported. Its citations were not checked again: they keep the results from"
    " before the export."
)


AGENT = "Agent"
AGENT_HELP = (
    "Searches in several steps: the model decides what to search for and read next, and each step"
    " is shown. This takes more time and tokens than a single search."
)
AGENT_NEEDS_MODEL = (
    "The agent needs a chat model. Choose one on the settings page, or set FOOTNOTE_CHAT_MODEL,"
    " and OPENAI_BASE_URL or OPENAI_API_KEY."
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
STEP_RESULT = "Result"
STEP_BROKEN_OFF = "interrupted"
STEP_MORE_DOCUMENTS = Plural("and 1 more document", "and {n} more documents")

STEPS = Plural("1 step", "{n} steps")
STEPS_FAILED = "{n} failed"
NO_STEPS = "Answered without searching"


APP = fixed("Footnote")
TAB_TITLE = fixed("{name} – Footnote")
TAGLINE = "Answers from your documents, backed by quotes."

ASK_PAGE = "Ask"
ASK_HERE = "Ask about your documents"

WELCOME = "What would you like to know?"
WELCOME_OWN = "Ask about your documents ({documents} in the library)."
WELCOME_SAMPLES = "For example, about the sample documents:"
SAMPLE_QUESTIONS = fixed(
    (
        "How many days of annual leave do new employees get?",
        "노트북을 잃어버리면 어떻게 해야 하나요?",
        "障害のあと、ふりかえりの会はいつまでに開きますか？",
    )
)
LIBRARY_EMPTY = "The library is empty: there is nothing to search yet."
EMPTY_LIBRARY = (
    "Nothing was searched because the library is empty. Import documents first, or drop a file on"
    " the box below and ask about it."
)
CHECK_AGAIN = "Check again"

ANSWERS_BY = "Answers by {model}"
MODEL_NOTES = {
    EXTRACTIVE: ("the built-in extractive answerer: quotes from the documents, no language model"),
}

EARLIER_TURNS = Plural("Show 1 earlier question", "Show {n} earlier questions")
ATTACH_QUESTION = "Attach the text as a file"
QUESTION_CUT = "… ({more:,} more characters)"
SEARCHING = "Searching…"
SEARCHING_FOR = "Searching for {question}"
READING = "Reading {titles}"
READING_MORE = Plural(
    "Reading {titles} and 1 more document", "Reading {titles} and {n} more documents"
)
ANSWERING = "Answering…"
REASONING = "Reasoning"
REASONING_NOTE = "The model wrote this before its answer. Nothing in it was checked."
SEARCHED_FOR = "Searched for {question}"
SEARCHED_FOR_EDITED = "Searched for {question}, as you worded it"
SECONDS = "{seconds} s"
NOT_RERANKED = "Not reranked: {reason}"
FOUND = "{passages} in {documents}"
PASSAGES = Plural("1 passage", "{n:,} passages")
DOCUMENTS = Plural("1 document", "{n:,} documents")
NO_PASSAGE_FOUND = "no passages found"

QUOTES_MEAN = (
    "“Found” means that the quoted words appear in the documents. Whether they answer the question"
    " is for you to judge."
)
MATCHES_MEAN = (
    "The answer cites a source without quoting it, so Footnote found the best-matching"
    " sentence in that source. Whether it answers the question is for you to judge."
)

SOURCES = "Sources"
MORE_SOURCES = "More sources ({n})"
WHOLE_PASSAGE = "Whole passage"
PAGE = "page {page}"
SOURCE_LINK = "Source {n}: {title}"
STATES = {
    "verified": "found in the document",
    "not found": "not found",
    "no such source": "no such source",
    "not verified here": "not verified here",
}
QUOTED = "quoted by the answer"
MATCHED = "matched by Footnote because the answer has no quote"
NOT_IN_SOURCE = "The answer quotes this, but the source does not contain it:"
NO_QUOTE = "The source does not support the sentence that cites it."
NOT_VERIFIED = "This citation was imported; this library does not contain what it cites:"
NO_SUCH_SOURCE = "The answer cites [{n}], but there is no source with that number."
ELSEWHERE = "The quote appears elsewhere in the document:"


STOP = "Stop"
INCOMPLETE = "This answer is incomplete."
STOPPED = "You stopped this answer. The text written so far is kept."
RUNNING = "This answer is not finished: it is still being written elsewhere, or it was interrupted."
RETRYABLE = "Asking again may help."

SHORTCUTS = "Keyboard shortcuts"
SHORTCUT_KEYS = {
    "/": "Go to the question",
    "Ctrl+K ⌘K": "Search conversations",
    "↑ ↓": "Move in the list of conversations",
    "Enter": "Send the question, or open the selected conversation",
    "Shift+Enter": "Start a new line in the question",
    "?": "Show this list",
    "Esc": "Close this list",
}

COPY = "Copy"
COPIED = "Copied"
ASK_AGAIN = "Ask again"
EDIT_QUESTION = "Edit question"
SEARCH_AGAIN = "Edit search"
YOUR_QUESTION = "Your question"
SEARCHED_QUESTION = "Question to search for"
EDIT_NOTE = "The earlier question and its follow-ups are kept as another version."
SEARCH_NOTE = (
    "The search uses this question exactly as written. The earlier answer is kept as another"
    " version."
)
ASK = "Ask"
SEARCH = "Search again"
VERSION = "Version {n} of {total}"
PREVIOUS_VERSION = "Previous version"
NEXT_VERSION = "Next version"
