"""The licenses of the packages in requirements.txt, as their metadata state them.

make licenses
"""

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "licenses.md"
UNCLEAR = "unclear"

ALLOWED = frozenset({
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC",
    "MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "Zlib",
})  # fmt: skip
"""Licenses that permit commercial use, and set no conditions for programs that use the package."""

STATED: Mapping[str, str] = {
    "deeplake": UNCLEAR,
    "py-rust-stemmers": "MIT",  # only in its license file
    "pypdfium2": "BSD-3-Clause AND Apache-2.0",  # and the licenses of libraries in PDFium
}
"""Packages whose metadata contain no license, or not as a single expression."""

_NAMES: Mapping[str, str] = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd 3-clause or apache-2.0": "BSD-3-Clause OR Apache-2.0",
    "bsd license": "BSD",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mit, bsd": "MIT AND BSD",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
}

_TABLE = re.compile(r"(?<=\| package \| version \| license \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")


def requirements() -> list[Requirement]:
    """The pinned packages of requirements.txt, in order."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if re.match(r"[\w.-]+==", line)]


def license_of(package: Distribution) -> str:
    """The license as an expression; `UNCLEAR` if the metadata state none."""
    metadata = package.metadata
    name = metadata["Name"].lower().replace("_", "-")
    first_line, _, text = (metadata.get("License") or "").strip().partition("\n")
    is_name = first_line and (not text or first_line.lower() in _NAMES)
    stated = metadata.get("License-Expression") or STATED.get(name)
    if stated or is_name:
        return _name(stated or first_line)
    classifiers = metadata.get_all("Classifier") or []
    ends = {one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License :: ")}
    return " AND ".join(sorted(map(_name, ends))) or UNCLEAR


def _name(text: str) -> str:
    return _NAMES.get(text.lower(), text)


def parts_of(expression: str) -> set[str]:
    """The licenses in an expression."""
    return set(re.split(r" AND | OR |[()]", expression)) - {""}


def rows() -> Iterator[tuple[str, str, str]]:
    """Name, version, and license of each package that is installed on this platform."""
    for requirement in requirements():
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:
            if requirement.marker is None or requirement.marker.evaluate():
                raise
            continue
        yield requirement.name, package.version, license_of(package)


def document() -> str:
    """The text of docs/licenses.md, with a current table."""
    table = "".join(f"| {' | '.join(row)} |\n" for row in rows())
    return _TABLE.sub(table, FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    FILE.write_text(document(), encoding="utf-8")
