"""Updates the files of ui/text/locale from the English texts: `make translations`."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import write_po

from ui.text.reader_language import ENGLISH, LOCALES
from ui.text.words import po_path, read_po_file, translations_in

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "ui" / "text" / "english"
SERVICES = (
    *("bootstrap", "chains", "domain", "loaders", "models", "retrievers", "services"),
    *("settings.py", "storage"),
)
TRANSLATED = [language for language in LOCALES if language != ENGLISH]
WIDTH = 100


class Text(NamedTuple):
    """An English text, or its singular and plural, with its constant, if any, and its file."""

    english: str | tuple[str, str]
    name: str
    file: str
    line: int


def english_texts(folder: Path = SOURCES) -> Iterator[Text]:
    """All texts to translate, in the order of the files, which are parsed but not executed.

    Texts without letters and arguments of `fixed(...)` are omitted.

    Raises:
        ValueError: A value is not a supported expression; the message names the line.
    """
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = ast.unparse(target)
                for english in _texts(node.value, path):
                    yield Text(english, name, f"ui/text/english/{path.name}", node.lineno)


def _texts(node: ast.expr, path: Path) -> Iterator[str | tuple[str, str]]:
    match node:
        case ast.Constant(value=value):
            if isinstance(value, str) and _has_letters(value):
                yield value
        case ast.Call(func=ast.Name(id="Plural"), args=[ast.Constant(one), ast.Constant(many)]):
            yield str(one), str(many)
        case ast.Tuple(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _texts(part, path)
        case ast.Call(func=ast.Name(id="fixed" | "TypeVar")) | ast.Name():
            pass
        case _:
            expected = "neither a text, a Plural, a tuple or dict of them, nor fixed(...)"
            raise ValueError(f"{path.name}, line {node.lineno}: {expected}")


def _has_letters(text: str) -> bool:
    """Whether there is a letter outside the placeholders."""
    literals = "".join(literal for literal, *_ in Formatter().parse(text))
    return any(letter.isalpha() for letter in literals)


@cache
def service_texts() -> Sequence[Text]:
    """The templates that `domain.messages._` marks in the code of the pages and the worker."""
    paths = (path for name in SERVICES for path in sorted(_python_files(ROOT / name)))
    return [text for path in paths for text in _marked_texts(path)]


def _python_files(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else path.rglob("*.py")


def _marked_texts(path: Path) -> Iterator[Text]:
    with path.open("rb") as file:
        for line, template, *_rest in extract("python", file, keywords={"_": None}):
            if isinstance(template, str) and _has_letters(template):
                yield Text(template, "", path.relative_to(ROOT).as_posix(), line)


def updated_po_file(language: str) -> Catalog:
    """The file updated to the current English texts: new ones untranslated, old ones removed."""
    template = Catalog()
    for text in (*english_texts(), *service_texts()):
        comments = [text.name] if text.name else []
        template.add(text.english, locations=[(text.file, text.line)], auto_comments=comments)
    po_file = read_po_file(language)
    po_file.update(template, no_fuzzy_matching=True, update_creation_date=False)
    return po_file


def missing_translations(po_file: Catalog) -> list[str]:
    """The English texts (singulars, for plurals) without a translation, or with a fuzzy one."""
    translated = translations_in(po_file)
    english = [one.id if isinstance(one.id, str) else one.id[0] for one in po_file]
    return [text for text in english if text and text not in translated]


def _write(language: str, po_file: Catalog) -> None:
    """Write the texts below the file's header, which contains a handwritten glossary."""
    path, body = po_path(language), BytesIO()
    head = path.read_text(encoding="utf-8").split("\n\n", 1)[0].rstrip()
    write_po(body, po_file, WIDTH, omit_header=True, ignore_obsolete=True, include_lineno=False)
    path.write_text(f"{head}\n\n{body.getvalue().decode().strip()}\n", encoding="utf-8")


def main() -> int:
    """Update every file and list untranslated texts; returns 1 if there are any, else 0."""
    lacking = 0
    for language in TRANSLATED:
        po_file = updated_po_file(language)
        _write(language, po_file)
        missing = missing_translations(po_file)
        lacking += len(missing)
        sys.stdout.write(f"{po_path(language).relative_to(ROOT)}: {len(missing)} missing\n")
        sys.stdout.writelines(f"  {text}\n" for text in missing)
    return min(lacking, 1)


if __name__ == "__main__":
    sys.exit(main())
