"""The document page: shows what an answer cites in the context of its document."""

import ui

ui.require_frame("pages/document.py")

reader = ui.services().reader
view = ui.requested_document(reader)
if view is not None:
    ui.show_document(reader, view)
