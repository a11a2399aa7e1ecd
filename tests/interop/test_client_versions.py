"""The docs state the pinned versions of the clients, and lock files fit any npm registry."""

import json
import re

import pytest

from tests.interop.programs import INTEROP, ROOT

REQUIREMENTS = ROOT / "tests" / "requirements"
PINNED = ["clients", "openai-2", "openai-3", "mcp-langchain", "mcp-fastmcp"]
PACKAGES = [
    "generated_clients",
    "oidc_provider",
    "clients/openai_node",
    "clients/mcp_typescript",
    "clients/mcp_ai_sdk",
]
HELPERS = {"@types/node", "typescript", "zod"}
"""Packages that the programs need besides the clients."""


def versions():
    for name in PINNED:
        text = (REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8")
        yield from re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)", text, flags=re.MULTILINE)
    for folder in PACKAGES:
        package = json.loads((INTEROP / folder / "package.json").read_text(encoding="utf-8"))
        dependencies = package["devDependencies"]
        yield from ((name, dependencies[name]) for name in dependencies.keys() - HELPERS)


def test_the_docs_state_the_version_of_each_client():
    text = (ROOT / "docs" / "interoperability.md").read_text(encoding="utf-8")
    table = text.split("## Clients at pinned versions")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")]
    missing = [
        (name, version)
        for name, version in versions()
        if not any(f"`{name}`" in line and version in line for line in lines)
    ]
    assert not missing


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_lock_file_names_no_registry(folder):
    lock = json.loads((INTEROP / folder / "package-lock.json").read_text(encoding="utf-8"))
    packages = [package for name, package in lock["packages"].items() if name]
    assert all("resolved" not in package and package["integrity"] for package in packages)
