"""Shared code of the pages: the frame, the services, and the display of turns and evidence."""

from ui.catalog.catalog_form import places_form
from ui.catalog.catalog_page import selected_catalog, show_places_title
from ui.catalog.catalog_search_view import show_places
from ui.chat.answer_view import ask, show_stop, show_turns
from ui.chat.conversation_list import (
    current_conversation,
    current_turns,
    open_conversation,
    reopen_conversation,
    show_conversations,
    shown_conversation,
)
from ui.chat.scope_panel import saved_search, show_scope
from ui.chat.turn_actions import allow_copying, requested_version
from ui.chat.upload_view import show_file_news, show_files, take_files
from ui.chat.welcome import chosen_question, show_if_empty, show_library, show_welcome
from ui.documents.document_page import requested_document, show_document, show_document_passages
from ui.imports.imports_page import chosen_source, show_imports_title, show_source, show_sources
from ui.imports.source_form import add_source
from ui.lab.lab_page import (
    compare,
    current_comparison,
    lab_form,
    show_comparison,
    show_lab_title,
    show_quality,
)
from ui.library.library_charts import show_figures
from ui.library.library_page import library_view, selected_document, show_library_status
from ui.library.library_table import show_documents, show_excluded, show_failures
from ui.shared.frame import (
    errors_shown,
    require_frame,
    return_to_opened_page,
    services,
    show_frame,
    show_model,
    show_name,
)
from ui.shared.server_middleware import server_middleware

__all__ = [
    "add_source",
    "allow_copying",
    "ask",
    "chosen_question",
    "chosen_source",
    "compare",
    "current_comparison",
    "current_conversation",
    "current_turns",
    "errors_shown",
    "lab_form",
    "library_view",
    "open_conversation",
    "places_form",
    "reopen_conversation",
    "requested_document",
    "requested_version",
    "require_frame",
    "return_to_opened_page",
    "saved_search",
    "selected_catalog",
    "selected_document",
    "server_middleware",
    "services",
    "show_comparison",
    "show_conversations",
    "show_document",
    "show_document_passages",
    "show_documents",
    "show_excluded",
    "show_failures",
    "show_figures",
    "show_file_news",
    "show_files",
    "show_frame",
    "show_if_empty",
    "show_imports_title",
    "show_lab_title",
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
]
