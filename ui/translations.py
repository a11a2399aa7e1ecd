"""Brings the files of ui/locale up to date with the English texts: `make translations`."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from babel.messages import Catalog
from babel.messages.pofile import write_po

from ui.language import ENGLISH, LOCALES
from ui.po_files import po_path, read_po_file, translations_in
from ui.text_flow import texts_said

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "ui" / "english"
SPEAKING = (
    *("agent/telling.py", "bootstrap", "catalog", "chains", "domain", "errors.py", "language"),
    *("loaders", "models", "retrievers", "services", "settings.py", "storage"),
)
TRANSLATED = [language for language in LOCALES if language != ENGLISH]
WIDTH = 100


class Text(NamedTuple):
    """An English text, or its singular and plural; its constant, if any, and its file."""

    english: str | tuple[str, str]
    name: str
    file: str
    line: int


def english_texts(folder: Path = SOURCES) -> Iterator[Text]:
    """Every text to translate, in the order of the files, read without running them.

    Texts without a letter and what stands in `fixed(...)` are left out.

    Raises:
        ValueError: A value is put together in a way that can't be read; the line is named.
    """
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                name = ast.unparse(target)
                for english in _texts(node.value, path):
                    yield Text(english, name, f"ui/english/{path.name}", node.lineno)


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
            told = "neither a text, a Plural, a tuple or dict of them, nor fixed(...)"
            raise ValueError(f"{path.name}, line {node.lineno}: {told}")


def _has_letters(text: str) -> bool:
    """Whether a letter stands outside of the placeholders."""
    literals = "".join(literal for literal, *_ in Formatter().parse(text))
    return any(letter.isalpha() for letter in literals)


@cache
def service_texts() -> Sequence[Text]:
    """What services say, as templates, from what the pages and the worker run.

    The command line's own texts and the database's migrations, which no page shows, are left out.
    """
    paths = [path for name in SPEAKING for path in sorted(_python_files(ROOT / name))]
    return [Text(one.text, "", one.file, one.line) for one in texts_said(ROOT, paths)]


def _python_files(path: Path) -> Iterable[Path]:
    if path.is_file():
        return [path]
    return (one for one in path.rglob("*.py") if "migrations" not in one.parts)


def updated_po_file(language: str) -> Catalog:
    """The file with the English texts of now: new ones untranslated, lost ones left out."""
    template = Catalog()
    for text in (*english_texts(), *service_texts()):
        comments = [text.name] if text.name else []
        template.add(text.english, locations=[(text.file, text.line)], auto_comments=comments)
    po_file = read_po_file(language)
    po_file.update(template, no_fuzzy_matching=True, update_creation_date=False)
    return po_file


def untranslated(po_file: Catalog) -> list[str]:
    """The English texts, or their singulars, that the file has no certain translation of."""
    done = translations_in(po_file)
    english = [one.id if isinstance(one.id, str) else one.id[0] for one in po_file]
    return [text for text in english if text and text not in done]


def _write(language: str, po_file: Catalog) -> None:
    """Write the texts below the file's head, whose glossary stays as a person wrote it."""
    path, body = po_path(language), BytesIO()
    head = path.read_text(encoding="utf-8").split("\n\n", 1)[0].rstrip()
    write_po(body, po_file, WIDTH, omit_header=True, ignore_obsolete=True, include_lineno=False)
    path.write_text(f"{head}\n\n{body.getvalue().decode().strip()}\n", encoding="utf-8")


def main() -> int:
    """Update every file and name what is not translated; 1 where something is not."""
    lacking = 0
    for language in TRANSLATED:
        po_file = updated_po_file(language)
        _write(language, po_file)
        missing = untranslated(po_file)
        lacking += len(missing)
        sys.stdout.write(f"{po_path(language).relative_to(ROOT)}: {len(missing)} missing\n")
        sys.stdout.writelines(f"  {text}\n" for text in missing)
    return min(lacking, 1)


if __name__ == "__main__":
    sys.exit(main())
