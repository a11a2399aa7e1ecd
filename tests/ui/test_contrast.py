"""Text is readable in both color schemes: WCAG's contrast of 4.5:1, computed from the style."""

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
BACKGROUNDS = ("backgroundColor", "secondaryBackgroundColor")
AA_CONTRAST = 4.5
# A bar, a picture, and a step of an animation.
NOT_TEXT = re.compile(r"\.fn-bar > span|\[data-testid=\"stImage\"\] img|\d+%")

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


def blend(foreground, share, background):
    return tuple(share * a + (1 - share) * b for a, b in zip(foreground, background, strict=True))


def color(value, scheme, background):
    """The visible RGB values of a CSS color on a background; None if the value is no color."""
    value = value.strip()
    if variable := re.fullmatch(r"var\((--[\w-]+)\)", value):
        return color(VARIABLES[variable[1]], scheme, background)
    if pair := re.fullmatch(r"light-dark\((.+),\s*(.+)\)", value):
        return color(pair[1 + SCHEMES.index(scheme)], scheme, background)
    if mixture := re.fullmatch(r"color-mix\(in srgb,\s*(.+) (\d+)%,\s*transparent\)", value):
        return blend(color(mixture[1], scheme, background), int(mixture[2]) / 100, background)
    if value in {"currentColor", "inherit"}:
        return rgb(THEME[scheme]["textColor"])
    return rgb(value) if re.fullmatch(r"#(\w{3}|\w{6})", value) else None


def luminance(code):
    parts = [c / 255 for c in code]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    darker, lighter = sorted((luminance(a), luminance(b)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.fixture(
    params=[(scheme, ground) for scheme in SCHEMES for ground in BACKGROUNDS], ids="-".join
)
def scheme_and_background(request):
    """A color scheme and one of its background colors."""
    scheme, ground = request.param
    return scheme, rgb(THEME[scheme][ground])


@pytest.mark.parametrize("name", ["textColor", "linkColor"])
def test_text_of_the_theme_is_readable(scheme_and_background, name):
    scheme, background = scheme_and_background
    assert contrast(rgb(THEME[scheme][name]), background) >= AA_CONTRAST


def test_colored_text_is_readable_on_its_background(scheme_and_background):
    scheme, page = scheme_and_background
    low_contrasts = {}
    for selector, rule in RULES:
        background = color(rule.get("background", ""), scheme, page) or page
        text = color(rule.get("color", ""), scheme, background) or rgb(THEME[scheme]["textColor"])
        visible = blend(text, float(rule.get("opacity", 1)), background)
        if not NOT_TEXT.fullmatch(selector) and contrast(visible, background) < AA_CONTRAST:
            low_contrasts[selector] = contrast(visible, background)
    assert low_contrasts == {}


def test_the_letter_of_a_shared_passage_is_readable_on_each_of_its_colors():
    colors = re.findall(r"--fn-passage: (#\w{6})", CSS)
    assert len(colors) == 8
    assert [code for code in colors if contrast(rgb("#fff"), rgb(code)) < AA_CONTRAST] == []


def test_charts_and_letters_have_the_same_colors():
    assert list(PALETTE) == re.findall(r"--fn-passage: (#\w{6})", CSS)


def test_contrast_is_computed_according_to_wcag():
    assert contrast(rgb("#000"), rgb("#fff")) == pytest.approx(21)
    assert contrast(rgb("#777777"), rgb("#ffffff")) == pytest.approx(4.48, abs=0.01)
