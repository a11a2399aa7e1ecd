"""What the pages share: the frame, the services, and how a turn and its evidence are shown."""

from ui.again import wanted_again
from ui.answer import ask, show_stop, show_turns
from ui.catalogue import chosen_catalogue, show_places_title
from ui.catalogue_form import places_form
from ui.catalogue_places import show_places
from ui.conversation_list import reopen_conversation, show_conversations
from ui.conversations import (
    current_conversation,
    current_turns,
    open_conversation,
    shown_conversation,
)
from ui.copying import allow_copying
from ui.document import asked_document, show_document
from ui.errors import errors_shown
from ui.frame import require_frame, return_to_opened_page, show_frame, show_model, show_name
from ui.imports import chosen_source, show_imports_title, show_sources
from ui.lab import (
    compare,
    current_comparison,
    show_comparison,
    show_lab_title,
    show_quality,
)
from ui.lab_form import lab_form
from ui.library import library_view, opened_document, show_library_status
from ui.library_charts import show_figures
from ui.library_failures import show_failures, show_left_out
from ui.library_table import show_documents
from ui.passages_view import show_document_passages
from ui.scope import kept_search, show_scope
from ui.services import services
from ui.serving import server_middleware
from ui.source_panel import show_source
from ui.sources_form import add_source
from ui.uploads import show_file_news, show_files, take_files
from ui.welcome import chosen_question, show_library, show_welcome, told_of_empty_library

__all__ = [
    "add_source",
    "allow_copying",
    "ask",
    "asked_document",
    "chosen_catalogue",
    "chosen_question",
    "chosen_source",
    "compare",
    "current_comparison",
    "current_conversation",
    "current_turns",
    "errors_shown",
    "kept_search",
    "lab_form",
    "library_view",
    "open_conversation",
    "opened_document",
    "places_form",
    "reopen_conversation",
    "require_frame",
    "return_to_opened_page",
    "server_middleware",
    "services",
    "show_comparison",
    "show_conversations",
    "show_document",
    "show_document_passages",
    "show_documents",
    "show_failures",
    "show_figures",
    "show_file_news",
    "show_files",
    "show_frame",
    "show_imports_title",
    "show_lab_title",
    "show_left_out",
    "show_library",
    "show_library_status",
    "show_model",
    "show_name",
    "show_places",
    "show_places_title",
    "show_quality",
    "show_scope",
    "show_source",
    "show_sources",
    "show_stop",
    "show_turns",
    "show_welcome",
    "shown_conversation",
    "take_files",
    "told_of_empty_library",
    "wanted_again",
]
