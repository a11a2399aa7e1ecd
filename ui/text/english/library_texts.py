"""The texts of the library page."""

from ui.text.english.text_kinds import Plural

DOCUMENT_PAGE = "Document"
AGE_TODAY = "imported today, version {version}"
AGE = Plural("imported 1 day ago, version {version}", "imported {n} days ago, version {version}")
CHANGED_SINCE = "changed since"
CHANGED_SINCE_NOTE = (
    "A newer version was imported after this answer. The evidence of the answer is unchanged."
)
GONE = "removed"
REMOVED_NOTE = (
    "The document was removed after this answer. The evidence of the answer is unchanged."
)
OPEN_AT_PASSAGE = "Open {title} at this passage"
OPEN_ORIGINAL = "Open the original"

BROKEN_LINK = "This link to a document is incomplete: open it again from the answer or the library."
CITED_FOR = "Cited for: {question}"
ORIGINAL_FILE = "Original file: {path}"
DOCUMENT_CHANGED = (
    "The document has changed since this answer. This is the passage that was stored with the"
    " answer."
)
DOCUMENT_REMOVED = (
    "The document is no longer in the library. This is the passage that was stored with the answer."
)
SHOW_NOW = "Show this passage in the current document"
SHOW_TODAY = "Show the current document"
DOCUMENT_PASSAGES = "Passages"
OUTLINE = "Outline"
FIND_IN_DOCUMENT = "Find in this document"
PREVIOUS_MATCH = "Previous match"
NEXT_MATCH = "Next match"
MATCH_OF = "{n} of {total}"
NO_MATCHES = "Not found"
BACK_TO_PASSAGE = "Back to the passage"
EARLIER_PART = "Show the earlier part"
LATER_PART = "Show the later part"
PART_OF = "Part {part} of {parts}"
DOWNLOAD_ORIGINAL = "Download the original"
ORIGINAL_CHANGED = "The file has changed since it was imported; the download is the current file."
PREVIOUS_PAGE = "Previous page"
NEXT_PAGE = "Next page"
ORIGINAL_PAGE = "Page {page} of the original"

RATED_UP = "Rating saved: good answer."
RATED_DOWN = "Rating saved: not a good answer."
WHY_NOT = "What is wrong with it?"
REASONS = {
    "wrong": "It is wrong",
    "incomplete": "It is incomplete",
    "wrong sources": "Wrong sources",
    "not found": "Not found, although it is in the documents",
    "too slow": "Too slow",
    "other": "Something else",
}
COMMENT = "Comment"
COMMENT_HERE = "What would the right answer be?"
KEEP_REASON = "Save the reason"

FREE_ANSWERER = "built-in answerer: free"
FIRST_WORDS = "first words after {seconds:.1f} s"
ANSWER_TIME = "{seconds:.1f} s in total"
TOKENS = "{read:,} tokens in, {written:,} out"
COST = "{currency} {amount:,.4f}"
COST_LESS = "less than {currency} {amount:,.4f}"
CONVERSATION_TOOK = "This conversation so far"


LIBRARY_PAGE = "Library"
LIBRARY_TITLE = "Library"
LIBRARY_STATUS = "{documents} · {passages}"
LIBRARY_NOTHING = "The library has no documents yet. Add a folder or files on the import page."
LIBRARY_VIEW = "Show"
LIBRARY_VIEWS = {
    "documents": "Documents",
    "failures": "Could not be read",
    "left out": "Excluded",
    "figures": "Figures",
}
VIEW_COUNTED = "{view} ({n})"

FIND_DOCUMENTS = "Find documents"
FIND_PLACEHOLDER = "Words in the title or path"
LIBRARY_ORDER = "Order"
LIBRARY_ORDERS = {
    "title": "By title",
    "newest": "Most recently imported",
    "passages": "Most passages",
    "density": "Fewest characters per page",
}
LIBRARY_NARROW = "Filters"
LIBRARY_NARROWED = "Filters (on)"
BY_SOURCE = "Sources"
BY_COLLECTION = "Collections"
BY_FORMAT = "Formats"
BY_LANGUAGE = "Languages"
LIBRARY_ANY = "Any"
BY_WARNINGS = "Only documents with warnings"
SCRIPT_NAMES = {
    "latin": "Latin script",
    "korean": "Korean",
    "japanese": "Japanese",
    "chinese": "Chinese",
    "other": "Other scripts",
    "none": "No letters",
    "": "Not yet known",
}
OPTION_COUNTED = "{name} ({n})"
NONE_MATCHES = "No documents match. Use fewer words or fewer filters."
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
TABLE_OF_EXCLUDED = "Documents excluded from imports"

HOW_TO_CHOOSE = (
    "Select rows at the left of the table: one to see its passages, or several to act on all"
    " of them."
)
DOCUMENTS_CHOOSE_ALL = "All {n} matching documents"
DOCUMENTS_CHOSEN = Plural("1 document selected", "{n} documents selected")
SHOW_PASSAGES = "Show passages"
READ_AGAIN = "Import again"
LIBRARY_REMOVE = "Remove…"
LIBRARY_REMOVE_ASK = Plural(
    "Remove this document from the library?", "Remove these {n} documents from the library?"
)
LIBRARY_REMOVE_MEANS = (
    "Files in upload boxes are permanently deleted. Nothing changes in folders and other sources:"
    " the documents are excluded from future imports, and you can restore them under “Excluded”."
    " Earlier answers keep their quotes."
)
LIBRARY_REMOVE_NOW = Plural("Remove 1 document", "Remove {n} documents")
KEEP_THEM = "Keep them"
WILL_IMPORT = Plural(
    "1 document will be imported again, even if it has not changed.",
    "{n} documents will be imported again, even if they have not changed.",
)
WILL_REMOVE = Plural(
    "1 document will be removed from the library when the import runs.",
    "{n} documents will be removed from the library when the import runs.",
)
WILL_TAKE_BACK = Plural(
    "1 document will be restored to the library when the import runs.",
    "{n} documents will be restored to the library when the import runs.",
)
FAILURES_DISMISSED = Plural(
    "1 failure was dismissed. It reappears if the document fails again.",
    "{n} failures were dismissed. They reappear if the documents fail again.",
)
LIBRARY_NO_WORKER = "No import worker is running: the import waits until one starts."
LIBRARY_UNDER_WAY = Plural("1 import is waiting or running.", "{n} imports are waiting or running.")

NO_FAILURES = "No failures. Every document was read, or its failure was dismissed."
FAILURES_NOTE = (
    "A failure stays here until the document can be read, the document is removed, or you"
    " dismiss the failure. If no rows are selected, the buttons apply to all failures."
)
FAILURES_UNNAMED = Plural(
    "{n} more document could not be read. It is not listed, because you may not read it or its"
    " readers are not known yet. An administrator may see it.",
    "{n} more documents could not be read. They are not listed, because you may not read them or"
    " their readers are not known yet. An administrator may see them.",
)
COLUMN_REASON = "Reason"
COLUMN_LAST_TRY = "Last attempt"
RETRY_ALL = Plural("Retry the document", "Retry all {n}")
RETRY_CHOSEN = Plural("Retry 1", "Retry {n}")
DISMISS_ALL = Plural("Dismiss the failure", "Dismiss all {n}")
DISMISS_CHOSEN = Plural("Dismiss 1", "Dismiss {n}")

NOTHING_EXCLUDED = "No document is excluded from imports."
EXCLUDED_NOTE = (
    "You removed these from the library; they still exist at their source. Imports skip them"
    " until you restore them. If no rows are selected, the button applies to all of them."
)
TAKE_BACK_ALL = Plural("Restore the document", "Restore all {n}")
TAKE_BACK_CHOSEN = Plural("Restore 1", "Restore {n}")

BACK_TO_LIBRARY = "Back to the documents"
OPEN_DOCUMENT = "Read the document"
LIBRARY_PASSAGE_OF = "Passage {n} of {total}"
PASSAGE_FACTS = "{characters} characters"
OVERLAP_BEFORE = Plural(
    "1 character shared with the previous passage",
    "{n} characters shared with the previous passage",
)
OVERLAP_AFTER = Plural(
    "1 character shared with the next passage", "{n} characters shared with the next passage"
)
OVERLAP_NOTE = (
    "Neighboring passages overlap so that no sentence loses its context. The text they share is"
    " highlighted."
)
NO_PASSAGES = "This document has no passages in the active index."
READ_HERE = "Open at this passage"

SOURCES_CHART = "Documents per source"
LANGUAGES_CHART = "Documents per language"
PASSAGES_CHART = "Passages per document"
IMPORTS_CHART = "Imports of the last {days} days"
IMPORTS_CHART_NOTE = "New, changed, and removed documents in the imports of each day."
NO_IMPORTS = "No documents were added, changed, or removed in that time."
OTHER_SOURCES = Plural("1 other source", "{n} other sources")
CHART_DOCUMENTS = "Documents"
CHART_MORE_THAN = "> {n}"
CHART_DAY = "Day"
CHART_CHANGE = "Change"
CHART_CHANGES = {"new": "new", "changed": "changed", "gone": "removed"}
