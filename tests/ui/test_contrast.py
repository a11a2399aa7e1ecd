"""Text can be read in both colour schemes: WCAG's contrast of 4.5:1, computed from the style."""

import re
import tomllib
from pathlib import Path

import pytest

from ui.lab.lab_charts import PALETTE

ROOT = Path(__file__).parents[2]
CSS = "\n".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "ui/shared/style").glob("*"))
)
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
SCHEMES = ("light", "dark")
GROUNDS = ("backgroundColor", "secondaryBackgroundColor")
ENOUGH = 4.5
# Markdown's own signs, faint on purpose; a bar, a picture; a moment of an animation.
NO_TEXT = re.compile(r"\.fn-syntax|\.fn-bar > span|\[data-testid=\"stImage\"\] img|\d+%")

VARIABLES = dict(re.findall(r"(--fn-[\w-]+):\s*([^;]+);", CSS))
RULES = [
    (selector.strip(), dict(re.findall(r"(?<![\w-])([\w-]+):\s*([^;]+)", body)))
    for selector, body in re.findall(
        r"([^{}]+)\{([^{}]*)\}", re.sub(r"/\*.*?\*/", "", CSS, flags=re.S)
    )
]


def rgb(code):
    digits = code.lstrip("#")
    pairs = [digit * 2 for digit in digits] if len(digits) == 3 else re.findall("..", digits)
    return tuple(int(pair, 16) for pair in pairs[:3])


def mixed(top, share, ground):
    return tuple(share * a + (1 - share) * b for a, b in zip(top, ground, strict=True))


def colour(value, scheme, ground):
    """What a CSS colour looks like on the ground; None for what isn't a colour of its own."""
    value = value.strip()
    if variable := re.fullmatch(r"var\((--[\w-]+)\)", value):
        return colour(VARIABLES[variable[1]], scheme, ground)
    if both := re.fullmatch(r"light-dark\((.+),\s*(.+)\)", value):
        return colour(both[1 + SCHEMES.index(scheme)], scheme, ground)
    if mix := re.fullmatch(r"color-mix\(in srgb,\s*(.+) (\d+)%,\s*transparent\)", value):
        return mixed(colour(mix[1], scheme, ground), int(mix[2]) / 100, ground)
    if value in {"currentColor", "inherit"}:
        return rgb(THEME[scheme]["textColor"])
    return rgb(value) if re.fullmatch(r"#(\w{3}|\w{6})", value) else None


def luminance(code):
    parts = [c / 255 for c in code]
    lit = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]


def contrast(a, b):
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(params=[(scheme, ground) for scheme in SCHEMES for ground in GROUNDS], ids="-".join)
def place(request):
    """A colour scheme, and what lies behind the text in it."""
    scheme, ground = request.param
    return scheme, rgb(THEME[scheme][ground])


@pytest.mark.parametrize("name", ["textColor", "linkColor"])
def test_the_themes_own_text_can_be_read(place, name):
    scheme, ground = place
    assert contrast(rgb(THEME[scheme][name]), ground) >= ENOUGH


def test_coloured_text_can_be_read_on_its_own_ground(place):
    scheme, page = place
    weak = {}
    for selector, rule in RULES:
        ground = colour(rule.get("background", ""), scheme, page) or page
        text = colour(rule.get("color", ""), scheme, ground) or rgb(THEME[scheme]["textColor"])
        shown = mixed(text, float(rule.get("opacity", 1)), ground)
        if not NO_TEXT.fullmatch(selector) and contrast(shown, ground) < ENOUGH:
            weak[selector] = contrast(shown, ground)
    assert weak == {}


def test_the_letter_of_a_shared_passage_can_be_read_on_each_of_its_colours():
    colours = re.findall(r"--fn-passage: (#\w{6})", CSS)
    assert len(colours) == 8
    assert [code for code in colours if contrast(rgb("#fff"), rgb(code)) < ENOUGH] == []


def test_the_charts_have_the_same_colours_as_the_letters():
    assert list(PALETTE) == re.findall(r"--fn-passage: (#\w{6})", CSS)


def test_contrast_is_computed_as_wcag_does():
    assert contrast(rgb("#000"), rgb("#fff")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(4.48, abs=0.01)
