"""What the pages share: the frame, the services, and how a turn and its evidence are shown."""

from ui.answer import ask, show_turn
from ui.conversation_list import show_conversations
from ui.conversations import current_conversation, current_turns
from ui.costs import show_cost, show_total_cost
from ui.document import asked_document, show_document
from ui.errors import errors_shown
from ui.feedback import show_feedback
from ui.frame import require_frame, return_to_opened_page, show_frame, show_model
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
from ui.services import principal, services
from ui.source_panel import show_source
from ui.sources_form import add_source
from ui.welcome import chosen_question, show_library, show_welcome

__all__ = [
    "add_source",
    "ask",
    "asked_document",
    "chosen_question",
    "chosen_source",
    "compare",
    "current_comparison",
    "current_conversation",
    "current_turns",
    "errors_shown",
    "lab_form",
    "library_view",
    "opened_document",
    "principal",
    "require_frame",
    "return_to_opened_page",
    "services",
    "show_comparison",
    "show_conversations",
    "show_cost",
    "show_document",
    "show_document_passages",
    "show_documents",
    "show_failures",
    "show_feedback",
    "show_figures",
    "show_frame",
    "show_imports_title",
    "show_lab_title",
    "show_left_out",
    "show_library",
    "show_library_status",
    "show_model",
    "show_quality",
    "show_source",
    "show_sources",
    "show_total_cost",
    "show_turn",
    "show_welcome",
]
