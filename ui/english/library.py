"""The texts of the library page."""

from ui.english.plural import Plural

LIBRARY_PAGE = "Library"
LIBRARY_TITLE = "What the answers come from"
LIBRARY_STATUS = "{documents} · {passages}"
LIBRARY_NOTHING = "The library holds no documents yet. Add a folder or files on the import page."
LIBRARY_VIEW = "Show"
LIBRARY_VIEWS = {
    "documents": "Documents",
    "failures": "Could not be read",
    "left out": "Left out",
    "figures": "Figures",
}
VIEW_COUNTED = "{view} ({n})"

FIND_DOCUMENTS = "Find documents"
FIND_PLACEHOLDER = "Words of the title or the path"
LIBRARY_ORDER = "Order"
LIBRARY_ORDERS = {
    "title": "By title",
    "newest": "Imported last",
    "passages": "Most passages",
    "density": "Fewest characters per page",
}
LIBRARY_NARROW = "Narrow down"
LIBRARY_NARROWED = "Narrow down (on)"
BY_SOURCE = "Sources"
BY_COLLECTION = "Collections"
BY_FORMAT = "Formats"
BY_LANGUAGE = "Languages"
LIBRARY_ANY = "Any"
BY_WARNINGS = "Only documents with warnings"
SCRIPT_NAMES = {
    "latin": "Latin letters",
    "korean": "Korean",
    "japanese": "Japanese",
    "chinese": "Chinese",
    "other": "Other letters",
    "none": "No letters",
    "": "Not known yet",
}
OPTION_COUNTED = "{name} ({n})"
NONE_MATCHES = "No document matches. Use fewer words, or narrow down less."
SHOWN_OF = "{first}–{last} of {total}"

COLUMN_TITLE = "Title"
COLUMN_SOURCE = "Source"
COLUMN_KEY = "Path"
COLUMN_SPACE = "Space"
COLUMN_AUTHOR = "Author"
COLUMN_LABELS = "Labels"
COLUMN_FORMAT = "Format"
COLUMN_PAGES = "Pages"
COLUMN_DENSITY = "Characters per page"
COLUMN_CHARACTERS = "Characters"
COLUMN_ENCODING = "Encoding"
COLUMN_LANGUAGE = "Language"
COLUMN_PASSAGES = "Passages"
COLUMN_LONGEST = "Longest passage"
COLUMN_VERSION = "Version"
COLUMN_IMPORTED = "Imported"
COLUMN_WARNINGS = "Warnings"
TABLE_OF_DOCUMENTS = "Documents in the library"
TABLE_OF_FAILURES = "Documents that could not be read"
TABLE_OF_LEFT_OUT = "Documents left out of imports"

HOW_TO_CHOOSE = "Mark rows at the left of the table: one to see its passages, any to act on them."
DOCUMENTS_CHOOSE_ALL = "All {n} that match"
DOCUMENTS_CHOSEN = Plural("1 document chosen", "{n} documents chosen")
SHOW_PASSAGES = "Show passages"
READ_AGAIN = "Import again"
LIBRARY_REMOVE = "Remove…"
LIBRARY_REMOVE_ASK = Plural(
    "Remove this document from the library?", "Remove these {n} documents from the library?"
)
LIBRARY_REMOVE_MEANS = (
    "Files in upload boxes are deleted for good. In folders and other places nothing is touched:"
    " the documents are left out of imports from now on, and can be taken back in under “Left out”."
    " Answers given earlier keep their quotes."
)
LIBRARY_REMOVE_NOW = Plural("Remove 1 document", "Remove {n} documents")
KEEP_THEM = "Keep them"
WILL_IMPORT = Plural(
    "1 document will be read again, whether it has changed or not.",
    "{n} documents will be read again, whether they have changed or not.",
)
WILL_REMOVE = Plural(
    "1 document leaves the library as soon as the import has run.",
    "{n} documents leave the library as soon as the import has run.",
)
WILL_TAKE_BACK = Plural(
    "1 document is imported again as soon as the import has run.",
    "{n} documents are imported again as soon as the import has run.",
)
FAILURES_DISMISSED = Plural(
    "1 failure is dismissed. It comes back if the document fails again.",
    "{n} failures are dismissed. They come back if the documents fail again.",
)
LIBRARY_NO_WORKER = "No import worker is running: the import waits until one does."
LIBRARY_UNDER_WAY = Plural("1 import is waiting or at work.", "{n} imports are waiting or at work.")

NO_FAILURES = "Every document could be read, or its failure was dismissed."
FAILURES_NOTE = (
    "These stay until the document can be read, is gone, or you dismiss it. Without marked rows"
    " the buttons are about all of them."
)
COLUMN_REASON = "Reason"
COLUMN_TRIED = "Tried"
RETRY_ALL = Plural("Retry the 1 failed", "Retry all {n}")
RETRY_CHOSEN = Plural("Retry 1", "Retry {n}")
DISMISS_ALL = Plural("Dismiss the 1 failed", "Dismiss all {n}")
DISMISS_CHOSEN = Plural("Dismiss 1", "Dismiss {n}")

NOTHING_LEFT_OUT = "No document is left out of imports."
LEFT_OUT_NOTE = (
    "You removed these from the library; they still are where they come from. Imports pass them"
    " by until you take them back in. Without marked rows the button is about all of them."
)
TAKE_BACK_ALL = Plural("Take the 1 back in", "Take all {n} back in")
TAKE_BACK_CHOSEN = Plural("Take 1 back in", "Take {n} back in")

BACK_TO_LIBRARY = "Back to the documents"
OPEN_DOCUMENT = "Read the document"
LIBRARY_PASSAGE_OF = "Passage {n} of {total}"
PASSAGE_FACTS = "{characters} characters"
OVERLAP_BEFORE = Plural(
    "1 character shared with the passage before", "{n} characters shared with the passage before"
)
OVERLAP_AFTER = Plural(
    "1 character shared with the passage after", "{n} characters shared with the passage after"
)
OVERLAP_NOTE = (
    "Neighbouring passages overlap, so that no sentence loses its context. What two of them share"
    " is marked."
)
NO_PASSAGES = "This document has no passages in the index that answers now."
READ_HERE = "Open at this passage"

SOURCES_CHART = "Documents per source"
LANGUAGES_CHART = "Documents per language"
PASSAGES_CHART = "Passages per document"
IMPORTS_CHART = "Imports of the last {days} days"
IMPORTS_CHART_NOTE = "Documents that each day's imports found new, changed or gone."
NO_IMPORTS = "Nothing was new, changed or gone in that time."
OTHER_SOURCES = Plural("1 other source", "{n} other sources")
CHART_DOCUMENTS = "Documents"
CHART_MORE_THAN = "> {n}"
CHART_DAY = "Day"
CHART_CHANGE = "Change"
CHART_CHANGES = {"new": "new", "changed": "changed", "gone": "gone"}
