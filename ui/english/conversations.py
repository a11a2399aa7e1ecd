"""The texts of the list of conversations."""

from ui.english.fixed import fixed
from ui.english.plural import Plural

NEW_CONVERSATION = "New conversation"
UNTITLED = "Untitled"
LOST_CONVERSATION = "There is no such conversation. Ask a question to start a new one."

SEARCH_CONVERSATIONS = "Search conversations"
CONVERSATIONS_FOUND = Plural("1 conversation found", "{n:,} conversations found")
NO_CONVERSATION_FOUND = "No conversation holds all of these words."
AGES = {
    "today": "Today",
    "yesterday": "Yesterday",
    "7 days": "Last 7 days",
    "older": "Older",
}
MORE_CONVERSATIONS = "Show more"

CONVERSATION_MENU = "Rename, export or delete: {title}"
CONVERSATION_ACTIONS = {
    "rename": "Rename",
    "export": "Export",
    "delete": "Delete",
}
RENAME_TITLE = "Rename the conversation"
NEW_TITLE = "Title"
KEEP_TITLE = "Rename"
EXPORT_TITLE = "Export the conversation"
EXPORT_FORMS = {
    "md": fixed("Markdown"),
    "html": fixed("HTML"),
    "json": fixed("JSON"),
}
EXPORT_NOTE = (
    "Markdown and HTML hold the questions and answers that are shown, with their quotes and links."
    " JSON holds everything, and can be imported again."
)
DELETE_TITLE = "Delete the conversation?"
DELETE_NOTE = "“{title}” can be brought back right after. It is gone for good in 30 days."
DELETE = "Delete"
CANCEL = "Cancel"
DELETED = "“{title}” is deleted."
UNDO = "Undo"

IMPORT_CONVERSATION = "Import a conversation"
IMPORT_CONVERSATION_FILE = "A JSON file exported from Footnote"
CONVERSATION_IMPORTED = (
    "“{title}” is imported. Nothing was checked again: its quotes say what was found where it was"
    " exported."
)
