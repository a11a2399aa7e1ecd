"""Every text of the pages, in one place, so that they can be translated."""

from domain import EXTRACTIVE

APP = "Footnote"
TAGLINE = "Answers from your documents, each one with its proof."

ASK_PAGE = "Ask"
ASK_HERE = "Ask about your documents"
NEW_CONVERSATION = "New conversation"
CONVERSATIONS = "Conversations"
UNTITLED = "Untitled"

WELCOME = "What would you like to know?"
WELCOME_OWN = "Ask about your documents ({documents} in the library)."
WELCOME_SAMPLES = "For example, about the sample documents:"
SAMPLE_QUESTIONS = (
    "How many days of annual leave do new employees get?",
    "노트북을 잃어버리면 어떻게 해야 하나요?",
    "障害のあと、ふりかえりの会はいつまでに開きますか？",
)
LIBRARY_EMPTY = "The library is empty: there is nothing to answer from yet."
LIBRARY_HOW = "Import a folder or a file from the command line, then check again:"
IMPORT_COMMAND = "python cli.py import PATH"
CHECK_AGAIN = "Check again"

ANSWERS_BY = "Answers by {model}"
MODEL_NOTES = {
    EXTRACTIVE: ("the built-in extractive answerer: quotes from the documents, no language model"),
}

QUESTION_CUT = "… ({more:,} more characters)"
SEARCHED_FOR = "Searched for:"
SEARCHING = "Searching…"
FOUND = "{passages} in {documents}"
PASSAGES = ("1 passage", "{n} passages")
DOCUMENTS = ("1 document", "{n} documents")
NOTHING_FOUND = "no passage found"

ALL_FOUND = "{found} of {total} quotes found in the source"
SOME_MISSING = "{found} of {total} quotes found in the source. Check the flagged ones yourself."
NO_CITATION = "This answer cites no source. Check it before you rely on it."
UNSUPPORTED = ("1 sentence without a source", "{n} sentences without a source")

SOURCES = "Sources"
MORE_SOURCES = "More sources ({n})"
WHOLE_PASSAGE = "Whole passage"
PAGE = "page {page}"
SOURCE_LINK = "Source {n}: {title}"
STATES = {
    "verified": "verified",
    "not found": "not found",
    "no such source": "no such source",
}
QUOTED = "quoted by the answer"
MATCHED = "matched by the program"
NOT_IN_SOURCE = "The answer quotes this, but the source does not say it:"
NO_QUOTE = "The source does not support the sentence that cites it."
NO_SUCH_SOURCE = "The answer cites [{n}], but there is no source with that number."
ELSEWHERE = "The quote stands elsewhere in the document:"

RATE = "Does it cite the right passages?"
RATED_RIGHT = "Kept: the cited passages are right for this question."
RATED_WRONG = "Kept: the cited passages are not right for this question."

INCOMPLETE = "This answer is incomplete."
STOPPED = "You stopped this answer. What was written until then is kept."
RUNNING = "This answer was not finished: it is still being written elsewhere, or it broke off."
RETRYABLE = "It may work if you ask again."
LOST_CONVERSATION = "There is no such conversation. Ask a question to start a new one."

LAB_PAGE = "Retrieval lab"
LAB_TITLE = "One question, every way of searching"
LAB_INTRO = (
    "See side by side what each search mode finds, how long it takes and why it found it. A passage"
    " that several modes found carries the same letter and colour everywhere."
)
LAB_QUESTION = "Question"
LAB_PLACEHOLDER = "What to search for"
LAB_MODES = "Search modes"
LAB_K = "Passages per mode"
LAB_COMPARE = "Compare"
LAB_NARROW = "Narrow the search"
LAB_FORMATS = "Document types"
LAB_COLLECTIONS = "Collections, separated by commas"
LAB_LABELS = "Labels, separated by commas"
LAB_SINCE = "Changed since"
FORMATS = ("md", "txt", "html", "pdf", "docx", "pptx", "xlsx", "csv", "json")
MODES = {
    "similarity": "Similarity",
    "similarity_score_threshold": "Similarity above a threshold",
    "mmr": "Diverse (MMR)",
    "bm25": "Keywords (BM25)",
    "ensemble": "Ensemble (RRF)",
    "convex": "Convex",
}
SHORT_MODES = {
    "similarity": "Similarity",
    "similarity_score_threshold": "Threshold",
    "mmr": "MMR",
    "bm25": "BM25",
    "ensemble": "RRF",
    "convex": "Convex",
}
MODE_NOTES = {
    "similarity": "nearest in meaning",
    "similarity_score_threshold": "nearest in meaning, weak ones left out",
    "mmr": "near in meaning, unlike each other",
    "bm25": "the very words",
    "ensemble": "meaning and words, fused by rank",
    "convex": "meaning and words, fused by score",
}
MILLISECONDS = "{ms:,.0f} ms"
MODE_FAILED = "This mode failed."
OVERLAP = "in {n} of {total} modes"
ONLY_HERE = "only here"
WHY = "Why is it here?"
LIST = "List"
RANK = "Rank"
SCORE = "Score"
SHARE = "Share of the score"
RANKERS = {"dense": "Meaning", "bm25": "Words"}
NOT_IN_LIST = "–"
RERANK = "Reranking"
RERANK_SKIPPED = "not done: {reason}"
RERANK_MOVED = "moved from rank {before} to {after} (score {score})"
RERANK_KEPT = "kept at rank {after} (score {score})"
MATCHED_WORDS = "Matched words"
NO_MATCHED_WORDS = "none: found by its meaning alone"
FILTER = "Filter"
NO_FILTER = "none"
OPERATORS = {
    "$in": "is one of",
    "$contains": "holds",
    "$contains_any": "holds one of",
    "$gt": ">",
    "$gte": "≥",
    "$lt": "<",
    "$lte": "≤",
}
RIGHT_PASSAGE = "This is the right passage"
RIGHT = "right"
TAKE_BACK = "Not right after all"
RANK_CHART = "Who ranks what where"
RANK_CHART_NOTE = "Each line is a passage that more than one mode found."
SCORE_CHART = "How the scores fall"
SCORE_CHART_NOTE = (
    "Each score as a share of its mode's best: far apart is a clear winner, close together a guess."
)
SEARCH_MODE = "Search mode"
SHARE_OF_BEST = "Share of the best score"
PASSAGE = "Passage"
QUALITY = "Which mode is best for your questions?"
QUALITY_NOTE = (
    "Every passage you mark as right becomes a labelled question. The bars are means over all of"
    " them, the lines their 95 % confidence intervals: where those overlap, the difference may be"
    " chance."
)
MEASURE = "Measure the modes"
MEASURING = "Searching each labelled question in each mode…"
LABELLED = ("1 passage labelled", "{n} passages labelled")
NDCG = "nDCG@{k}"
RECALL = "Recall@{k}"
MEASURED = "{queries} labelled questions"


def count(forms: tuple[str, str], n: int) -> str:
    """The number with its noun, in the singular or the plural form."""
    return forms[0] if n == 1 else forms[1].format(n=n)
