"""The texts of the retrieval lab, and of explanations of search results."""

from ui.text.english.text_kinds import Plural, fixed

LAB_PAGE = "Retrieval lab"
LAB_TITLE = "One question, every search mode"
LAB_INTRO = (
    "Compare what each search mode finds, how long it takes, and why it found each passage. A"
    " passage that several modes found has the same letter and color everywhere."
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
FORMATS = fixed((
    "md", "txt", "html", "pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp", "hwp", "hwpx", "rtf",
    "epub", "csv", "tsv", "json", "yaml", "xml", "ipynb", "eml", "msg", "zip",
))  # fmt: skip
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
    "similarity": "closest in meaning",
    "similarity_score_threshold": "closest in meaning, without weak matches",
    "mmr": "close in meaning, different from each other",
    "bm25": "the exact words",
    "ensemble": "meaning and words, fused by rank",
    "convex": "meaning and words, fused by score",
}
MILLISECONDS = fixed("{ms:,.0f} ms")
MODE_FAILED = "This mode failed."
OVERLAP = "in {n} of {total} modes"
ONLY_HERE = "only here"
WHY = "Why was this found?"
LIST = "List"
RANK = "Rank"
SCORE = "Score"
SHARE = "Share of the score"
RANKERS = {"dense": "Meaning", "bm25": "Words"}
NOT_IN_LIST = "–"
RERANK = "Reranking"
RERANK_SKIPPED = "skipped: {reason}"
RERANK_MOVED = "moved from rank {before} to {after} (score {score})"
RERANK_SAME = "kept at rank {after} (score {score})"
MATCHED_WORDS = "Matched words"
NO_MATCHED_WORDS = "none: found by meaning alone"
FILTER = "Filter"
NO_FILTER = "none"
OPERATORS = {
    "$in": "is one of",
    "$nin": "is none of",
    "$contains": "contains",
    "$contains_any": "contains one of",
    "$gt": ">",
    "$gte": "≥",
    "$lt": "<",
    "$lte": "≤",
}
RIGHT_PASSAGE = "This is the right passage"
RIGHT = "right"
TAKE_BACK = "Unmark this passage"
RANK_CHART = "Ranks in each mode"
RANK_CHART_NOTE = "Each line is a passage that more than one mode found."
SCORE_CHART = "How scores decline"
SCORE_CHART_NOTE = (
    "Each score as a share of its mode's best: a large gap means a clear winner, a small gap"
    " a close call."
)
SEARCH_MODE = "Search mode"
SHARE_OF_BEST = "Share of the best score"
PASSAGE = "Passage"
QUALITY = "Which mode is best for your questions?"
QUALITY_NOTE = (
    "Every passage you mark as right becomes a labeled question. Bars show the means over all"
    " of them, lines their 95% confidence intervals: where intervals overlap, the difference"
    " may be due to chance."
)
MEASURE = "Measure the modes"
MEASURING = "Searching each labeled question in each mode…"
LABELED = Plural("1 passage labeled", "{n} passages labeled")
NDCG = fixed("nDCG@{k}")
RECALL = "Recall@{k}"
MEASURED = "{queries} labeled questions"
