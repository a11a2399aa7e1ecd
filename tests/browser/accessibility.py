"""Checks a page with axe-core, which `make axe` fetches from npm."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = Path(__file__).parents[1] / "requirements" / "node_modules" / "axe-core" / "axe.min.js"

_RUN = """async (rejected) => {
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  return violations.filter(({impact}) => rejected.includes(impact));
}"""
_REJECTED = ("serious", "critical")


def violations(page: "Page", axe: str) -> list[str]:
    """The serious and critical violations on the page, each with its element and how to fix it."""
    page.evaluate(f"window.axe || (() => {{ {axe} }})()")
    return [line for one in page.evaluate(_RUN, _REJECTED) for line in _lines(one)]


def _lines(violation: dict[str, Any]) -> Iterator[str]:
    head = f"{violation['impact']}: {violation['id']} ({violation['help']})"
    for node in violation["nodes"]:
        target = " ".join(map(str, node["target"]))
        yield "\n  ".join((head, target, node["html"][:300], node["failureSummary"]))
