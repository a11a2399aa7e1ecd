"""The library: every document, what could not be read, and the whole in figures."""

import ui

ui.require_frame("pages/library.py")

services = ui.services()
ui.show_library_status(services)
document_id = ui.opened_document()
if document_id:
    ui.show_document_passages(services, document_id)
else:
    show = {
        "documents": ui.show_documents,
        "failures": ui.show_failures,
        "left out": ui.show_left_out,
        "figures": ui.show_figures,
    }
    show[ui.library_view(services)](services)
