"""The texts of the page that searches catalogs of places."""

from ui.text.english.text_kinds import Plural, fixed

PLACES_PAGE = "Places"
PLACES_TITLE = "Places that fit you"
PLACES_INTRO = (
    "Ask a catalog in your own words. Footnote works out what you are looking for, takes your"
    " preferences into account, and answers with quotes from the reviews."
)
PLACES_COUNT = Plural("{name}: 1 place", "{name}: {n:,} places")
PLACES_CATALOG = "Catalog"
PLACES_NONE = "No catalog yet"
PLACES_NONE_HOW = (
    "A catalog is a table of places, such as restaurants, homes, or devices, with their"
    " reviews. Start with the sample of 300 fictional restaurants in New York, or add your"
    " own catalog as a source."
)
PLACES_ADD_SAMPLE = "Add the sample catalog"
PLACES_ADD_OWN = "Add your own catalog"
PLACES_IMPORTING = "Places are being imported. You can ask about each as soon as it is imported."
PLACES_EMPTY = "The catalog {name} has no places: its import found none, or has not run yet."
PLACES_SOURCES = "View the import"

PLACES_QUESTION = "What are you looking for?"
PLACES_PLACEHOLDER = "A quiet Italian place in Brooklyn, price does not matter"
PLACES_ASK = "Find places"
PLACES_EXAMPLES = fixed((
    "가격 비싸도 괜찮으니 분위기 좋은 이탈리안",
    "ブルックリンで、待たずに入れる美味しいラーメン屋",
    "Friendly Korean barbecue in Queens, rated 4 or better",
))  # fmt: skip
PLACES_FOR_EXAMPLE = "For example:"

PREFERENCES = "What matters to you"
PREFERENCES_NOTE = (
    "0 means not at all, and 5 means very much. Your question takes precedence over these"
    " preferences, which are saved and apply to your next searches."
)
PREFERENCES_UNSET = "not set"
PREFERENCES_CHANGED = "Your preferences have changed since this search."
PREFERENCES_FORGET = "Reset preferences"

UNDERSTOOD = "Understood:"
UNDERSTOOD_AS = "Searched in English for: {query}"
UNDERSTOOD_BY = "Analyzed by {model}"
UNDERSTOOD_NOTHING = "no filters or preferences: all places in the catalog are compared"
CHIP_HELP = "Search again without this"
CHIP_DECLINED = "Not {type}"
CHIP_RATING = "★ {rating} or better"
CHIP_MATTERS = "{aspect} matters ({weight})"
CHIP_MATTERS_LITTLE = "{aspect} matters little ({weight})"

PLACES_UNDERSTANDING = "Reading the question"
PLACES_RANKING = "Comparing places"
PLACES_ANSWERING = "Writing the answer"
PLACES_FOUND = Plural("1 place", "{n:,} places")
PLACES_CUT_SHORT = "This search ended before its answer was complete."
PLACES_NOT_FOUND = "No place matches: remove a filter, or ask for something broader."
PLACES_TOOK = "{found} in {seconds}"
PLACES_ANYWAY = "Search the places anyway"
PLACES_DETAILS = "Details of this search"
PLACES_ANSWER = "Answer"
PLACES_PROOF = "Evidence for the answer"
PLACES_MAP = "Map"
PLACES_MAP_NOTE = (
    "The numbers match the cards; filled points match everything you asked for. Places that are"
    " close together are moved apart."
)
MAP_CREDIT = "Outlines: {sources}"
MAP_KM = fixed("{n} km")
MAP_M = fixed("{n} m")

PLACE_RATING = "{rating} of {scale}"
PLACE_RATINGS = Plural("1 rating", "{n:,} ratings")
PLACE_UNRATED = "not rated"
PLACE_OPEN = "Open {title} with all of its reviews"
PLACE_SCORE = "Score {score}"
PLACE_BAR = "Parts of the score of {score}: {parts}"
PLACE_MORE = Plural("1 more place", "{n:,} more places")
PARTS = {
    "hybrid": "Words and meaning",
    "confidence": "Rating",
    "type": "Type",
    "cross_encoder": "Reranker",
    "aspects": "What reviewers praise",
}
PART_NOTES = {
    "hybrid": "how well its text matches the question, in words and in meaning",
    "confidence": "its rating, adjusted toward the catalog's mean if it has few ratings",
    "type": "whether it is one of the requested types",
    "cross_encoder": "how well the reranker thinks it fits the question and your preferences",
    "aspects": "how much its reviewers praise what matters to you, used when there is no reranker",
}
TAGS = "Known for"
MATCH_ALL = Plural(
    "1 of these places matches everything you asked for",
    "{n:,} of these places match everything you asked for",
)
MATCH_BUT = Plural(
    "1 place matches everything but: {missing}", "{n:,} places match everything but: {missing}"
)
MATCH_PART = Plural(
    "1 place matches part of what you asked for", "{n:,} places match part of what you asked for"
)
MATCHES_ALL = "Matches everything you asked for"
MATCHES_BUT = "Does not match: {missing}"
WHY_PLACE = "Why this place"
REASON_PRAISE = Plural(
    "{aspect}, which matters to you, is praised in the only review that judges it.",
    "{aspect}, which matters to you, is praised in {praise} of {n:,} opinions.",
)
REASON_DIVIDED = "{aspect}, which matters to you, is praised as often as it is criticized."
REASON_BLAME = Plural(
    "{aspect}, which matters to you, is criticized in the only review that judges it.",
    "{aspect}, which matters to you, is criticized in {blame} of {n:,} opinions.",
)
REASON_UNKNOWN = "{aspect}, which matters to you, is not judged in any review."
REASON_TYPE = "It is the type of place that you asked for."
REASON_OTHER_TYPE = "It is another type of place than you asked for."
REASON_RATING = Plural(
    "Rated {rating} of {scale} in 1 rating.", "Rated {rating} of {scale} in {n:,} ratings."
)
REASON_FEW_RATINGS = Plural(
    "Rated {rating} of {scale}, but in 1 rating only, so the catalog's average counts more.",
    "Rated {rating} of {scale}, but in {n:,} ratings only, so the catalog's average counts more.",
)
REASON_UNRATED = "Nobody has rated it, so the catalog's average counts instead."
REASON_FIT = {
    "hybrid": (
        "Its description and reviews are close to your question.",
        "Its description and reviews are partly close to your question.",
        "Its description and reviews have little in common with your question.",
    ),
    "cross_encoder": (
        "Compared in full, its text fits your question and your preferences well.",
        "Compared in full, its text fits your question and your preferences partly.",
        "Compared in full, its text hardly fits your question and your preferences.",
    ),
}
SCORE_DETAILS = "The score in numbers"
PART = "Part"
PART_VALUE = "Value"
PART_WEIGHT = "Weight"
FOUND_IN = "Matching text"
NO_PASSAGE = "No passage matches the question: the other parts of the score ranked this place."

PATTERNS = "What reviewers repeatedly say"
PATTERN_PRAISE = "praised"
PATTERN_BLAME = "criticized"
PATTERN_COUNT = "in {count} of {reviews} reviews"
PATTERN_GROUP = fixed("[{group}]")
PATTERN_ORIGINAL = "in {language}"
PATTERN_TRANSLATED = "translated from {language}"
QUOTE_LANGUAGES = {
    "english": "English",
    "korean": "Korean",
    "japanese": "Japanese",
    "chinese": "Chinese",
    "other": "another language",
}
PATTERN_OPEN = "Open the original review"
