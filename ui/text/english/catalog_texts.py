"""The texts of the page that searches catalogs of places."""

from ui.text.english.text_kinds import Plural, fixed

PLACES_PAGE = "Places"
PLACES_TITLE = "Places that fit you"
PLACES_INTRO = (
    "Ask a catalog in your own words. Footnote reads what you are looking for, knows what you"
    " prefer, and answers with quotes from the reviews."
)
PLACES_COUNT = Plural("{name}: 1 place", "{name}: {n:,} places")
PLACES_CATALOG = "Catalog"
PLACES_NONE = "There is no catalog yet"
PLACES_NONE_HOW = (
    "A catalog is a table of places with their reviews: restaurants, homes, devices. Begin with"
    " the sample, 300 made-up restaurants in New York, or add your own as a source."
)
PLACES_ADD_SAMPLE = "Add the sample catalog"
PLACES_ADD_OWN = "Add a catalog of your own"
PLACES_IMPORTING = "The places are being imported. You can ask as soon as that is done."
PLACES_EMPTY = "The catalog {name} has no places: its import found none, or did not run yet."
PLACES_SOURCES = "See its import"

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
    "0 is not at all, 5 is very much. What a question says goes first. Kept for you, and counted"
    " from the next search on."
)
PREFERENCES_UNSET = "not set"
PREFERENCES_CHANGED = "What matters to you has changed since this search."
PREFERENCES_FORGET = "Forget them"

UNDERSTOOD = "Understood:"
UNDERSTOOD_AS = "Searched in English for: {query}"
UNDERSTOOD_BY = "Understood by {model}"
UNDERSTOOD_NOTHING = "no filters and no wishes: every place of the catalog is compared"
CHIP_HELP = "Search again without this"
CHIP_DECLINED = "Not {type}"
CHIP_RATING = "★ {rating} or better"
CHIP_MATTERS = "{aspect} matters ({weight})"
CHIP_MATTERS_LITTLE = "{aspect} matters little ({weight})"

PLACES_UNDERSTANDING = "Reading the question"
PLACES_RANKING = "Comparing places"
PLACES_ANSWERING = "Writing the answer"
PLACES_FOUND = Plural("1 place", "{n:,} places")
PLACES_CUT_SHORT = "This search was cut short before its answer was written."
PLACES_NOT_FOUND = "No place fits: take a filter out, or ask for something wider."
PLACES_TOOK = "{found} in {seconds}"
PLACES_ANSWER = "Answer"
PLACES_PROOF = "What the answer rests on"
PLACES_MAP = "Where they are"
PLACES_MAP_NOTE = (
    "The numbers are those of the cards. Places that are close to each other are drawn apart."
)
LATITUDE = "Latitude"
LONGITUDE = "Longitude"

PLACE = "Place"
PLACE_RATING = "{rating} of {scale}"
PLACE_RATINGS = Plural("1 rating", "{n:,} ratings")
PLACE_UNRATED = "not rated"
PLACE_OPEN = "Open {title} with all of its reviews"
PLACE_SCORE = "Score {score}"
PLACE_BAR = "What the score of {score} is made of: {parts}"
PLACE_MORE = Plural("1 more place", "{n:,} more places")
PARTS = {
    "hybrid": "Words and meaning",
    "confidence": "Rating",
    "type": "Type",
    "cross_encoder": "Close reading",
    "aspects": "What reviewers praise",
}
PART_NOTES = {
    "hybrid": "how well its text fits the question, by words and by meaning",
    "confidence": "its rating, drawn to the catalog's mean where few have rated it",
    "type": "whether it is of a type that was asked for",
    "cross_encoder": "how well it fits the question and what matters to you, read together",
    "aspects": "how much its reviewers praise what matters to you, in place of the close reading",
}
TAGS = "Known for"
WHY_PLACE = "Why this place"
PART = "Part"
PART_VALUE = "Value"
PART_WEIGHT = "Weight"
FOUND_IN = "Found in its text"
NO_PASSAGE = "Nothing in its text was found by itself: its other parts brought it here."

PATTERNS = "What reviewers say again and again"
PATTERN_PRAISE = "praised"
PATTERN_BLAME = "criticised"
PATTERN_COUNT = "in {count} of {reviews} reviews"
PATTERN_GROUP = fixed("[{group}]")
PATTERN_ORIGINAL = "original"
PATTERN_TRANSLATED = "translated"
PATTERN_OPEN = "Open the review this is from"
