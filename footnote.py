"""Footnote in Python programs and notebooks, and the `footnote` command.

    import footnote

    library = footnote.open("data")
    print(library.chain().invoke("How many days of annual leave do we get?")["answer"])

Installed, Footnote's modules are in the folder of this one, where other programs do not find them:
their names, such as `models`, are general. Importing this module changes nothing. `open` and
`ConversationalRetrievalChain` append the folder to the module search path of this process; `main`
puts it first. docs/install.md explains this.
"""

import os
import sys
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import Runnable

    from bootstrap import Services
    from chains.conversational_retrieval import ConversationalRetrievalChain
    from domain import Principal, SearchChoice, Turn

__all__ = ["ConversationalRetrievalChain", "OpenLibrary", "main", "open"]

__path__: list[str] = []  # `footnote.chains` would be a second copy of `chains`

_FOLDER = Path(__file__).resolve().parent
_MODULES = (
    *("bootstrap", "chains", "domain", "loaders"),
    *("models", "retrievers", "services", "settings", "storage"),
)
"""The modules that `OpenLibrary` uses."""


@dataclass(frozen=True)
class OpenLibrary:
    """A data folder on behalf of a user: all services, and LangChain components over them."""

    services: "Services"
    principal: "Principal"

    def ask(self, question: str, conversation_id: str | None = None) -> "Turn":
        """The answer with its checked citations, stored in a conversation: by default a new one.

        Raises:
            InputError: The question is empty.
            NotFoundError: There is no such conversation.
        """
        return self.services.chat.ask(self.principal, question, conversation_id)

    def chain(self, search: "SearchChoice | None" = None) -> "Runnable[Any, dict[str, Any]]":
        """A Runnable that answers like the chat page, but stores nothing and checks no citation.

        Its inputs and outputs are those of `ConversationalRetrievalChain`. `search` restricts the
        documents and selects the search mode; None means those of the settings.
        """
        return self.services.chains.runnable(
            self.principal, search or self.services.chat.default_search
        )

    def retriever(self, k: int = 5) -> "BaseRetriever":
        """A LangChain retriever over the library that returns at most `k` passages, best first."""
        return self.services.search.retriever(self.principal, k=k)


def open(data_dir: str | os.PathLike[str] | None = None, *, create: bool = False) -> OpenLibrary:
    """Open a data folder; from then on, only you can read files that this process writes.

    Args:
        data_dir: The folder; None means that of the settings.
        create: Whether to create the folder if it is missing.

    Raises:
        StorageError: There is no such folder, or it can't be used.
        ConfigError: A setting is invalid.
        ImportError: Another module has the name of one of Footnote's.
    """
    _find_modules()
    from bootstrap import build_services
    from domain import LOCAL_USER

    folder = None if data_dir is None else Path(data_dir).expanduser()
    return OpenLibrary(build_services(data_dir=folder, must_exist=not create), LOCAL_USER)


def main() -> None:
    """Run the command line; in its process, Footnote's modules precede all others."""
    sys.path.insert(0, str(_FOLDER))
    import cli

    cli.main()


def __getattr__(name: str) -> Any:
    if name != "ConversationalRetrievalChain":
        raise AttributeError(f"module 'footnote' has no attribute {name!r}")
    _find_modules()
    from chains.conversational_retrieval import ConversationalRetrievalChain

    return ConversationalRetrievalChain


def _find_modules() -> None:
    for name in _MODULES:
        if file := _file_of_another_module(name):
            raise ImportError(
                f"Footnote and this program both have a module `{name}`, and a process can load"
                f" only one of them. Rename {file}, or install Footnote separately and call its API"
                " (docs/install.md)."
            )
    if str(_FOLDER) not in sys.path:
        sys.path.append(str(_FOLDER))


def _file_of_another_module(name: str) -> str:
    """The file of a module of this name that is not Footnote's; "" if there is none.

    A folder without Python files is no conflict, because Footnote's packages precede it.
    """
    loaded = sys.modules.get(name)
    spec = PathFinder.find_spec(name) if loaded is None else loaded.__spec__
    if spec is not None and not spec.origin:  # a folder without __init__.py
        folders = [Path(one) for one in spec.submodule_search_locations or ()]
        return next((str(one) for one in folders if loaded or any(one.glob("*.py"))), "")
    file = spec.origin if spec is not None and spec.has_location else None
    return "" if file is None or Path(file).resolve().is_relative_to(_FOLDER) else file
