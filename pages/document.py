"""The document page: shows what an answer cites in the context of its document."""

from ui.documents import document_page
from ui.shared import frame

frame.require_frame("pages/document.py")

document_page.show_requested_document(frame.services())
