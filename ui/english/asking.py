"""The texts around the question: what to search, files, first questions, nothing found."""

from ui.english.plural import Plural

SCOPE_EVERYWHERE = "Search in: everything"
SCOPE_LABEL = "Search in: {what}"
SCOPE_COMMA = ", "
SCOPE_HELP = "What the next question of this conversation searches"
SCOPE_SOURCES = "Sources"
SCOPE_COLLECTIONS = "Collections"
SCOPE_FORMATS = "File types"
SCOPE_LABELS = "Labels"
SCOPE_SINCE = "Changed since"
SCOPE_UNTIL = "Changed until"
SCOPE_ANY = "All"
SCOPE_OWN = "Files of this conversation"
SCOPE_GONE = "A source that is gone"
SCOPE_N_SOURCES = Plural("1 source", "{n} sources")
SCOPE_N_COLLECTIONS = Plural("1 collection", "{n} collections")
SCOPE_N_LABELS = Plural("1 label", "{n} labels")
SCOPE_FROM = "since {day}"
SCOPE_TO = "until {day}"
SCOPE_RESET = "Reset"
SCOPE_NOT_SEARCHED = "The conversation is searched as before until this is put right."
ADVANCED = "Advanced"
ADVANCED_MODE = "Search mode"
ADVANCED_PASSAGES = "Passages put before the answerer"
ADVANCED_THRESHOLD = "Least relevance of a passage"
AS_SET = "As set: {value}"

FILES_TAKEN = Plural("Reading 1 file", "Reading {n} files")
FILES_READY = "The files can be asked about"
FILES_SOME_FAILED = "Not every file can be asked about"
FILES_WAIT = "waiting"
FILE_STAGES = {
    "listing": "looking for changes",
    "reading": "reading",
    "splitting": "splitting",
    "embedding": "embedding",
    "writing": "writing",
    "removing": "tidying up",
    "indexing": "indexing",
}
FILE_EMBEDDING = "embedding {part}/{parts}"
FILE_READY = Plural("ready: 1 passage", "ready: {n} passages")
FILE_UNCHANGED = "ready: it was imported before"
FILE_REFUSED = "not taken: {reason}"
FILE_FAILED = "could not be read: {reason}"
FILES_UNDER_WAY = "Files of this conversation are still being imported."
FILES_OF_CONVERSATION = "Files ({n})"
FILES_NOTE = "Only this conversation searches these files."
FILES_DISMISS = "Dismiss"
FILE_DELETE = "Take {name} out of this conversation"

NOTHING_RELEVANT = "No passage proves an answer to this question."
NOTHING_SEARCHED = "Searched for"
NOTHING_WHERE = "Where"
NOTHING_HOW = "How"
NOTHING_EVERYWHERE = "everything"
NOTHING_MODE = "{mode}: {note}"
NOTHING_BEST = "Nearest passage"
BEST_BELOW = "{best} of 1, below the threshold of {threshold}"
BEST_ABOVE = "{best} of 1, at or above the threshold of {threshold}"
BEST_UNKNOWN = "none could be compared by its meaning"
WIDEN_MODE = "Search again: {mode}"
WIDEN_THRESHOLD = "Search again down to {threshold}"
WIDEN_SCOPE = "Search everything"
WIDEN_EDIT = "Edit the question"
WIDEN_ASK = "Search again with this question"

SUGGESTED = "From the documents in the library ({documents}), for example:"
EMPTY_HOW = "Bring in your own documents, or try it with the sample documents first."
EMPTY_IMPORT = "Import documents"
EMPTY_SAMPLES = "Import the sample documents"
SAMPLES_IMPORTING = "Importing the sample documents: {done} of {total}"
SAMPLES_LISTING = "Importing the sample documents"
