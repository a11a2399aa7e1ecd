"""The status page, for the person who runs Footnote; the settings page links to it."""

from ui.settings import status_page
from ui.shared import frame
from ui.text import words

frame.require_frame("pages/status.py")
frame.name_tab(words.STATUS_PAGE)
status_page.show_status(frame.services())
