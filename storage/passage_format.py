"""What the passages' rows are made of, and the file beside them that says so: format.json."""

import json
from pathlib import Path
from typing import Any

from storage.deep_lake import load
from storage.disk import unusable

FORMAT_FILE = "format.json"
SCHEMA_VERSION = 1


def schema(types: Any, dimension: int) -> dict[str, Any]:
    """Plain columns: an indexed vector column returns rows that the filter forbids."""
    return {
        "id": types.Text(),
        "text": types.Text(),
        "embedding": types.Array("float32", [dimension]),
        "metadata": types.Text(),
    }


def describe(folder: Path, dimension: int) -> None:
    """Note in the folder what its rows are written with."""
    written = {
        "schema": SCHEMA_VERSION,
        "deeplake": load().__version__,
        "dimension": dimension,
    }
    temporary = folder / f"{FORMAT_FILE}.new"
    temporary.write_text(json.dumps(written), encoding="utf-8")
    temporary.replace(folder / FORMAT_FILE)


def checked_dimension(folder: Path) -> int:
    """The length of the vectors in there, once it is sure that this version may touch them.

    Raises:
        StorageError: It may not, or the folder doesn't say.
    """
    try:
        found = json.loads((folder / FORMAT_FILE).read_text(encoding="utf-8"))
        written = (found["schema"], found["deeplake"])
        dimension = int(found["dimension"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable("passages", folder, f"{FORMAT_FILE} is missing or damaged") from error
    here = (SCHEMA_VERSION, load().__version__)
    if written != here:  # two versions of Deep Lake silently disagree about one dataset's rows
        theirs, ours = (f"format {schema} by Deep Lake {by}" for schema, by in (written, here))
        why = f"it was written as {theirs}, this program writes {ours}"
        raise unusable("passages", folder, why)
    return dimension
