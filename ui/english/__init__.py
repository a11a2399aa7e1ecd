"""Every text of the pages in English, page by page, as the catalogues translate it."""

from ui.english.agent import *  # noqa: F403
from ui.english.asking import *  # noqa: F403
from ui.english.catalogue import *  # noqa: F403
from ui.english.chat import *  # noqa: F403
from ui.english.conversations import *  # noqa: F403
from ui.english.document import *  # noqa: F403
from ui.english.imports import *  # noqa: F403
from ui.english.lab import *  # noqa: F403
from ui.english.library import *  # noqa: F403
from ui.english.source_forms import *  # noqa: F403
