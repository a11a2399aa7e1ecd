"""The texts of sources, of the document page, of ratings and of costs."""

from ui.english.plural import Plural

DOCUMENT_PAGE = "Document"
AGE_TODAY = "imported today, version {version}"
AGE = Plural("imported 1 day ago, version {version}", "imported {n} days ago, version {version}")
CHANGED_SINCE = "changed since"
CHANGED_SINCE_NOTE = "A newer version was imported after this answer. Its evidence stays as it was."
GONE = "gone"
GONE_NOTE = "The document was removed after this answer. Its evidence stays as it was."
OPEN_AT_PASSAGE = "Open {title} at this passage"
OPEN_ORIGINAL = "Open the original"

BROKEN_LINK = "This link to a document is not whole: open it again from the answer or the library."
CITED_FOR = "Cited for: {question}"
ORIGINAL_FILE = "Original file: {path}"
KEPT_CHANGED = (
    "The document has changed since this answer. This is the passage as the answer cites it, as it"
    " was kept with it."
)
KEPT_GONE = (
    "The document is not in the library any more. This is the passage as the answer cites it, as"
    " it was kept with it."
)
SHOW_NOW = "Show it in the document of today"
SHOW_TODAY = "Show the document of today"
PREVIOUS_PASSAGE = "Previous passage"
NEXT_PASSAGE = "Next passage"
PASSAGE_OF = "Passage {ordinal:,} of {passages:,}"
ORIGINAL_PAGE = "Page {page} of the original"

RATE = "Is this a good answer?"
RATED_UP = "Kept: a good answer."
RATED_DOWN = "Kept: not a good answer."
WHY_NOT = "What is wrong with it?"
REASONS = {
    "wrong": "It is wrong",
    "incomplete": "It is incomplete",
    "wrong sources": "Wrong sources",
    "not found": "Not found, although it is there",
    "too slow": "Too slow",
    "other": "Something else",
}
COMMENT = "Comment"
COMMENT_HERE = "What would have been right?"
KEEP_REASON = "Keep the reason"

FREE_ANSWERER = "built-in answerer: free"
FIRST_WORDS = "first words after {seconds:.1f} s"
ANSWER_TIME = "{seconds:.1f} s in all"
TOKENS = "{read:,} tokens in, {written:,} out"
COST = "{currency} {amount:,.4f}"
COST_LESS = "less than {currency} {amount:,.4f}"
CONVERSATION_TOOK = "This conversation so far"
