"""The library page: all documents, unreadable and excluded ones, and charts."""

from ui.documents import passage_list
from ui.library import library_page, library_table
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/library.py")
frame.name_tab(words.LIBRARY_PAGE)

services = frame.services()
library_page.show_library_status(services)
if document_id := library_page.selected_document():
    passage_list.show_document_passages(services, document_id)
else:
    match library_page.library_view(services):
        case library_page.FAILURES:
            library_table.show_failures(services)
        case library_page.EXCLUDED:
            library_table.show_excluded(services)
        case library_page.FIGURES:
            from ui.library import library_charts  # altair is slow to load

            library_charts.show_figures(services)
        case _:
            library_table.show_documents(services)
