"""The texts of the settings page."""

from ui.text.english.text_kinds import fixed

SETTINGS_PAGE = "Settings"
SETTINGS_INTRO = (
    "Changes take effect without a restart. Values that the environment sets can only be changed"
    " there."
)
SETTING_FIXED = "{label} (set by the environment: {variable})"
SETTINGS_SAVED = "Saved. New questions and imports use these settings."
SETTINGS_UNCHANGED = "Nothing was changed."
SETTINGS_UNDONE = "The previous settings are restored."
SAVE_SETTINGS = "Save settings"
RESET_SETTINGS = "Reset to defaults"

SETTING_LABELS = {
    "openai_base_url": "Endpoint of the chat model",
    "openai_api_key": "API key of the chat model",
    "chat_model": "Name of the chat model",
    "embedding_provider": "Embedding provider",
    "embedding_model": "Name of the embedding model",
    "embedding_base_url": "Endpoint of the embedding model",
    "embedding_api_key": "API key of the embedding model",
    "language": "Language of the pages",
    "ocr_languages": "Languages of text in pictures",
    "deleted_retention_days": "Days until a deleted conversation is removed permanently",
}
SETTING_HELP = {
    "openai_base_url": (
        "The address of a server that implements OpenAI's chat completions, such as Ollama or vLLM."
        " It usually ends in /v1. A key that the environment sets is not sent to it."
    ),
    "openai_api_key": (
        "It is stored encrypted and never shown again. Enter it again if you change the endpoint."
        " Many local servers need none."
    ),
    "chat_model": "If the endpoint offers only one model, you can leave this empty.",
    "embedding_api_key": (
        "It is stored encrypted and never shown again. Enter it again if you change the endpoint."
    ),
    "ocr_languages": "Tesseract's language codes, joined by +. With none, pictures are not read.",
}
KEY_SET = "Set; leave empty to keep it"
KEY_NOT_SET = "Not set"
KEY_REMOVE = "Remove the stored key"

CHAT_SECTION = "Chat model"
CHAT_NOTE = (
    "The model that writes the answers. Without one, the built-in answerer quotes the documents."
    " Test uses what you have entered, even if it is not saved."
)
ENDPOINT_DEFAULT = fixed("https://api.openai.com/v1")
MODEL_PLACEHOLDER = "Choose or enter a model"
TEST_MODEL = "Test"
LIST_MODELS = "List models"
TESTING_MODEL = "Waiting for the model"
MODEL_REPLIED = "{model} replied in {seconds} s: {reply}"

EMBEDDING_SECTION = "Embedding model"
EMBEDDING_NOTE = "The model that finds passages by meaning. After a change, rebuild the index."
EMBEDDING_PROVIDERS = {
    "builtin": "Built-in, on this machine",
    "fastembed": "fastembed, on this machine",
    "openai": "A server that implements OpenAI's embeddings",
}
REBUILD_INDEX = "Rebuild the index"
REBUILD_NOTE = (
    "Until the new index is complete, questions are answered with the old one. If you leave this"
    " page, the work stops and can be resumed here."
)
REBUILDING = "{done} of {total} documents"
REBUILD_STOP = "Stop"
REBUILT = "The index is rebuilt: {passages}."
REBUILD_PROBLEM = (
    "Other programs may still search the replaced index until Footnote is restarted: {reason}"
)
EMBEDDING_DEFAULT = "Default of the provider"
AS_CHAT_ENDPOINT = "As for the chat model"

APPEARANCE_SECTION = "Language and appearance"
THEME_NOTE = (
    "Light or dark colors follow your system. To choose them in this browser, open the menu ⋮ at"
    " the top right."
)
INTERFACE_LANGUAGES = {
    "auto": "As in the browser",
    "en": fixed("English"),
    "ko": fixed("한국어"),
    "ja": fixed("日本語"),
}

OCR_SECTION = "Text recognition"
OCR_NOTE = "For scans and pictures in documents that are imported from now on."

RETENTION_SECTION = "Retention"
RETENTION_NOTE = (
    "Until then, a deletion can be undone. A shorter time removes older conversations at once."
)

STATUS_PAGE = "System status"
STATUS_NOTE = "For the person who runs Footnote: what is installed, stored, and running."
STATUS_FACTS = {
    "version": "Version of Footnote",
    "data_dir": "Data folder",
    "free": "Free disk space",
    "sizes": "Stored data",
    "library": "Library",
    "index": "Index",
    "worker": "Worker",
    "runs": "Imports that have not ended",
}
STATUS_INDEX = "{fingerprint}, {engine}"
INDEX_ENGINES = {"embedded": "in the data folder", "opensearch": "on OpenSearch"}
STATUS_NO_INDEX = "none before the first import"
STATUS_WORKER = "A worker is running."
STATUS_NO_WORKER = (
    "No worker is running: start Footnote with serve, or a worker, to perform imports."
)
STATUS_NO_RUNS = "none"
STATUS_PROBLEMS = "Latest problems"
STATUS_NO_PROBLEMS = "No import has failed, has unreadable documents, or waits for confirmation."
MEGABYTES = "{n} MB"
STATUS_SMALL = "less than 1 MB"
