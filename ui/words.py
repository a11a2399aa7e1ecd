"""The texts of the pages, in the language of whoever reads them: `words.ASK_HERE`.

Each is looked up when it is used. At a module's top level that would be once for everybody.
"""

from typing import TYPE_CHECKING, Any

from ui import english
from ui.english.plural import Plural

if TYPE_CHECKING:
    from ui.english import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(english, name)


def count(forms: Plural, n: int, **more: object) -> str:
    """The number with its noun, in the singular or the plural form; `more` are other fields."""
    return (forms.one if n == 1 else forms.many).format(n=n, **more)
