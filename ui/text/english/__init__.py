"""The English texts of the pages, one module per page; the PO files translate them."""

from ui.text.english.administration_texts import *  # noqa: F403
from ui.text.english.catalog_texts import *  # noqa: F403
from ui.text.english.chat_texts import *  # noqa: F403
from ui.text.english.import_texts import *  # noqa: F403
from ui.text.english.lab_texts import *  # noqa: F403
from ui.text.english.library_texts import *  # noqa: F403
from ui.text.english.settings_texts import *  # noqa: F403
from ui.text.english.sign_in_texts import *  # noqa: F403
