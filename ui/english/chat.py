"""The texts of the frame and of the chat page."""

from domain import EXTRACTIVE
from ui.english.fixed import fixed
from ui.english.plural import Plural

APP = fixed("Footnote")
TAGLINE = "Answers from your documents, with the quotes they rest on."

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
LIBRARY_EMPTY = "The library is empty: there is nothing to answer from yet."
EMPTY_ASKED = (
    "Nothing was searched, for the library is empty. Import documents first, or drop a file on the"
    " input below and ask it."
)
CHECK_AGAIN = "Check again"

ANSWERS_BY = "Answers by {model}"
MODEL_NOTES = {
    EXTRACTIVE: ("the built-in extractive answerer: quotes from the documents, no language model"),
}

EARLIER_TURNS = Plural("Show 1 earlier question", "Show {n} earlier questions")
QUESTION_CUT = "… ({more:,} more characters)"
SEARCHING = "Searching…"
SEARCHING_FOR = "Searching for {question}"
READING = "Reading {titles}"
READING_MORE = Plural(
    "Reading {titles} and 1 more document", "Reading {titles} and {n} more documents"
)
ANSWERING = "Answering…"
SEARCHED_FOR = "Searched for {question}"
SEARCHED_FOR_GIVEN = "Searched for {question}, as you worded it"
SECONDS = "{seconds} s"
NOT_RERANKED = "Not reranked: {reason}"
FOUND = "{passages} in {documents}"
PASSAGES = Plural("1 passage", "{n:,} passages")
DOCUMENTS = Plural("1 document", "{n:,} documents")
NOTHING_FOUND = "no passage found"

QUOTES_FOUND = Plural("1 quote found in the documents", "{n} quotes found in the documents")
QUOTES_MISSING = "{found} of {total} quotes found in the documents; {missing} not found"
SENTENCES_MATCHED = Plural(
    "1 sentence matched by the program", "{n} sentences matched by the program"
)
QUOTES_MEAN = (
    "Found means that the quoted words stand in the documents. Whether they answer the question is"
    " for you to judge."
)
MATCHES_MEAN = (
    "The answer gives a number without a quote: the program looked for the sentence of that source"
    " that fits best. Whether it answers the question is for you to judge."
)
CITATIONS_UNSUPPORTED = Plural("1 citation without support", "{n} citations without support")
NO_CITATION = "This answer cites no source. Check it before you rely on it."
NEAREST_PASSAGES = "Nearest passages. They may not answer the question."
UNSUPPORTED = Plural("1 sentence without a source", "{n} sentences without a source")

SOURCES = "Sources"
MORE_SOURCES = "More sources ({n})"
WHOLE_PASSAGE = "Whole passage"
PAGE = "page {page}"
SOURCE_LINK = "Source {n}: {title}"
STATES = {
    "verified": "found in the document",
    "not found": "not found",
    "no such source": "no such source",
}
QUOTED = "quoted by the answer"
MATCHED = "matched by the program, as the answer gives no quote"
NOT_IN_SOURCE = "The answer quotes this, but the source does not say it:"
NO_QUOTE = "The source does not support the sentence that cites it."
NO_SUCH_SOURCE = "The answer cites [{n}], but there is no source with that number."
ELSEWHERE = "The quote stands elsewhere in the document:"


STOP = "Stop"
INCOMPLETE = "This answer is incomplete."
STOPPED = "You stopped this answer. What was written until then is kept."
RUNNING = "This answer was not finished: it is still being written elsewhere, or it broke off."
RETRYABLE = "It may work if you ask again."

COPY = "Copy"
COPIED = "Copied"
ASK_AGAIN = "Ask again"
EDIT_QUESTION = "Edit question"
SEARCH_AGAIN = "Edit search"
YOUR_QUESTION = "Your question"
SEARCHED_QUESTION = "Question to search for"
EDIT_NOTE = "The earlier question and what followed it are kept as another version."
SEARCH_NOTE = "Searched exactly as it stands here. The earlier answer is kept as another version."
ASK = "Ask"
SEARCH = "Search again"
VERSION = "Version {n} of {total}"
PREVIOUS_VERSION = "Previous version"
NEXT_VERSION = "Next version"
