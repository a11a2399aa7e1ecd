"""The library page: all documents, unreadable and excluded ones, and charts."""

import ui

ui.require_frame("pages/library.py")

services = ui.services()
ui.show_library_status(services)
document_id = ui.selected_document()
if document_id:
    ui.show_document_passages(services, document_id)
else:
    show = {
        "documents": ui.show_documents,
        "failures": ui.show_failures,
        "left out": ui.show_excluded,
        "figures": ui.show_figures,
    }
    show[ui.library_view(services)](services)
