"""Every text of the pages in English, page by page, as the catalogs translate it."""

from ui.text.english.catalog_texts import *  # noqa: F403
from ui.text.english.chat_texts import *  # noqa: F403  # noqa: F403  # noqa: F403  # noqa: F403
from ui.text.english.import_texts import *  # noqa: F403  # noqa: F403
from ui.text.english.lab_texts import *  # noqa: F403
from ui.text.english.library_texts import *  # noqa: F403  # noqa: F403
