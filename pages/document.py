"""The document page: shows what an answer cites in the context of its document."""

from ui.documents import document_page
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/document.py")

services = frame.services()
view = document_page.requested_document(services.reader)
frame.name_tab(words.DOCUMENT_PAGE if view is None else view.title)
if view is not None:
    document_page.show_document(services, view)
