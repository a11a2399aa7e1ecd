"""The texts of the pages, in the language of whoever reads them: `words.ASK_HERE`.

Each is looked up when it is used. At a module's top level that would be once for everybody.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from ui import english
from ui.english.plural import Plural
from ui.language import language
from ui.po_files import Translations, translations

if TYPE_CHECKING:
    from ui.english import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return _text(name, language())


@cache
def _text(name: str, spoken: str) -> Any:
    return _translated(getattr(english, name), translations(spoken))


def _translated(value: Any, into: Translations) -> Any:
    """The texts in the value; English where there is no translation."""
    match value:
        case str():
            return into.get(value, (value,))[0]
        case Plural():
            forms = into.get(value.one, value)
            return Plural(forms[0], forms[-1])
        case tuple():
            return tuple(_translated(one, into) for one in value)
        case dict():
            return {key: _translated(one, into) for key, one in value.items()}
    return value


def count(forms: Plural, n: int, **more: object) -> str:
    """The number with its noun, in the singular or the plural form; `more` are other fields."""
    return (forms.one if n == 1 else forms.many).format(n=n, **more)
