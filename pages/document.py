"""The document page: what an answer cites, in the document where it stands."""

import ui

ui.require_frame("pages/document.py")

reader = ui.services().reader
view = ui.asked_document(reader)
if view is not None:
    ui.show_document(reader, view)
