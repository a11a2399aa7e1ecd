"""The document page: shows what an answer cites in the context of its document."""

from ui.documents import document_page
from ui.shared import frame

frame.require_frame("pages/document.py")

reader = frame.services().reader
view = document_page.requested_document(reader)
if view is not None:
    document_page.show_document(reader, view)
