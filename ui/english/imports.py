"""The texts of the import page."""

from ui.english.fixed import fixed
from ui.english.plural import Plural

IMPORT_PAGE = "Import"
IMPORT_TITLE = "Where the documents come from"
IMPORT_INTRO = (
    "A source is a folder of this machine, a Confluence site, a Google Drive or a box of uploaded"
    " files. An import brings the library up to date with it: what is new, what has changed, what"
    " is gone."
)
NO_IMPORT_WORKER = (
    "No worker is running, so what is queued waits. “make run” starts one beside the pages; to"
    " start one by hand:"
)
WORKER_COMMAND = fixed("python cli.py worker")

SOURCES_LISTED = "Sources"
NO_SOURCES = "There is no source yet. Add one above: a folder, Confluence, Google Drive or files."
CONVERSATION_BOXES = Plural(
    "Files of 1 conversation", "Files of {n:,} conversations, each searched in its own only"
)
IMPORT_STATES = {
    "": "never imported",
    "queued": "queued",
    "running": "running",
    "paused": "paused",
    "completed": "done",
    "completed with errors": "done with errors",
    "needs confirmation": "needs confirmation",
    "interrupted": "interrupted",
    "cancelled": "cancelled",
    "failed": "failed",
}
JOB_KINDS = {"import": "Import", "dry run": "Trial run", "removal": "Removal"}
SOURCE_HOLDS = "{documents}, {passages}"
SOURCE_FAILED = Plural("1 could not be read", "{n:,} could not be read")
SOURCE_IMPORTED = "last import {ago}"
SOURCE_NEXT = "next refresh {ago}"
SOURCE_DUE = "refresh is due"
SOURCE_IN_COLLECTION = "collection {name}"

ALL_SOURCES = "All sources"
REFRESH_NOW = "Import now"
TRY_IMPORT = "Try out"
TRY_IMPORT_HELP = "Shows what an import would do, and changes nothing in the library."
PAUSE_SOURCE = "Pause the source"
PAUSE_SOURCE_HELP = "No refresh by itself, and what is at work rests."
RESUME_SOURCE = "Let the source go on"

JOB_QUEUED = "Waiting for its turn"
JOB_INTERRUPTED = (
    "Interrupted: what was done is kept, and the next worker goes on at the next document."
)
JOB_WAITS = "Interrupted: what was done is kept. It tries again {ago}."
JOB_PAUSED = "Paused. It goes on at the next document."
JOB_STAGES = {
    "listing": "Looking what is there",
    "reading": "Reading",
    "splitting": "Splitting",
    "embedding": "Embedding",
    "writing": "Writing",
    "removing": "Removing",
    "indexing": "Indexing",
    "waiting": "Waiting for the source",
}
JOB_STARTING = "Starting"
JOB_LISTED = Plural("1 found so far", "{n:,} found so far")
JOB_DONE_OF = "{done} of {total} documents"
JOB_PARTS = "passage {part} of {parts}"
JOB_RATE = Plural("1 document a minute", "{n:,} documents a minute")
JOB_LEFT = "about {time} left"
JOB_STOPPING = {"pause": "Pausing…", "cancel": "Cancelling…"}
PAUSE_JOB = "Pause"
RESUME_JOB = "Go on"
CANCEL_JOB = "Cancel"

TRIAL = "What an import would do"
TRIAL_MADE = "Found out {ago}, in {time}"
TRIAL_PAGES = Plural("1 page", "{n:,} pages")
TRIAL_CHARACTERS = Plural("1 character", "{n:,} characters")
TRIAL_TOKENS = Plural("about 1 token", "about {n:,} tokens")
TRIAL_PRICE = "about {price} {currency}"
TRIAL_FREE = "costs nothing: no price is set for embedding"
TRIAL_NO_CHANGES = "Nothing has changed: there is nothing to import."
IMPORT_CHANGES = Plural("Import 1 change", "Import {n:,} changes")
HELD_BACK = Plural(
    "1 document seems to be gone: more than half of the source, or all of a place in it. It stays"
    " until you confirm that it is really gone.",
    "{n:,} documents seem to be gone: more than half of the source, or all of a place in it. They"
    " stay until you confirm that they are really gone.",
)
HELD_BACK_CHECK = "A folder that is not mounted looks like an empty one: check it first."
HELD_BACK_CHECK_ACCOUNT = "An account that lost its rights sees an emptier place: check it first."
CONFIRM_REMOVALS = Plural("Import, and remove 1 document", "Import, and remove {n:,} documents")
OUTCOMES = {
    "new": "new",
    "changed": "changed",
    "gone": "gone",
    "unchanged": "unchanged",
    "kept": "kept",
    "skipped": "skipped",
    "failed": "could not be read",
}

HISTORY = "Imports so far"
NO_HISTORY = "There was no import yet."
HISTORY_STARTED = "Started"
HISTORY_KIND = "What"
HISTORY_STATE = "State"
HISTORY_DURATION = "Took"
HISTORY_CHOOSE = "Report of"
HISTORY_HINT = "Choose an import"
HISTORY_ENTRY = "{kind}, {started}: {state}"
REPORT_SHOW = "Show"
REPORT_OUTCOME = "{outcome} ({n})"
REPORT_DOCUMENT = "Document"
REPORT_OUTCOME_COLUMN = "Outcome"
REPORT_FIGURES = "Passages"
REPORT_REASON = "Reason"
REPORT_ROWS = "{first}–{last} of {total}"

EDIT_SOURCE = "Change"
EDIT_FIXED = "Where it is stays as it is: for another place add another source."
EDIT_SAVE = "Save"
EDIT_SAVED = "Saved."
EDIT_SAVED_IMPORT = "Saved. An import that files its documents anew is queued."
ADD_FILES = "Add files to this box"
DELETE_SOURCE = "Delete"
DELETE_REMOVES = "This takes {documents} with {passages} out of the library."
DELETE_UPLOADS = "The uploaded files are deleted for good."
DELETE_KEEPS_FILES = "The files themselves stay where they are."
DELETE_KEEPS_PAGES = "What is there itself stays as it is. What it was read with is deleted."
DELETE_CITED = Plural(
    "1 conversation cites these documents: its answers keep their evidence.",
    "{n:,} conversations cite these documents: their answers keep their evidence.",
)
DELETE_NOW = "Delete this source"
DELETE_QUEUED = "{name} is being deleted."
