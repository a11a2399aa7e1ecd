"""Images of sentences, as from scanners and screens."""

import functools
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from loaders.programs import is_installed

FONTS = Path("/usr/share/fonts")
FACES = {"ko": 1, "ja": 0, "en": 0}  # indexes in the Noto CJK font collections
SENTENCES = {
    "ko": (
        "연차 휴가는 매년 15일이 부여됩니다.",
        "비밀번호는 90일마다 바꾸고 열두 글자 이상이어야 합니다.",
        "재택근무를 하려면 팀장의 승인이 필요하며, 주 2회까지 가능합니다.",
        "출장비는 영수증과 함께 다음 달 10일까지 신청하십시오.",
    ),
    "ja": (
        "有給休暇は毎年十五日付与されます。",
        "パスワードは90日ごとに変更し、12文字以上にしてください。",
        "在宅勤務には上司の承認が必要で、週に2回まで利用できます。",
        "出張費は領収書を添えて翌月10日までに申請してください。",
    ),
    "en": (
        "Employees get 15 days of paid leave a year.",
        "Passwords are changed every 90 days and hold at least twelve letters.",
        "Working from home needs the approval of the team lead, twice a week.",
        "Travel costs are claimed with receipts by the 10th of the next month.",
    ),
}


@functools.cache
def font_file(name: str = "NotoSansCJK-Regular.ttc") -> Path | None:
    return next(iter(sorted(FONTS.rglob(name))), None) if FONTS.is_dir() else None


def missing_requirement() -> str:
    """What OCR tests lack on this machine; empty if they can run."""
    if not is_installed("tesseract"):
        return "tesseract is not installed"
    return "" if font_file() else "the font Noto Sans CJK is not installed"


def scan(
    lines: Sequence[str],
    language: str = "en",
    *,
    font: str = "NotoSansCJK-Regular.ttc",
    size: int = 44,
    width: int = 2480,
    height: int = 1200,
) -> Image.Image:
    """The upper third of an A4 page at 300 dpi; 44 pixels are a little over 10 points."""
    picture = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(picture)
    typeface = ImageFont.truetype(str(font_file(font)), size, index=FACES[language])
    for number, line in enumerate(lines):
        draw.text((width // 12, 100 + 2 * size * number), line, font=typeface, fill=0)
    return picture


def photocopy(page: Image.Image, seed: int = 0) -> Image.Image:
    """The page as from a poor copier: rotated, blurred, grainy, and strongly compressed.

    Args:
        page: The original page.
        seed: The seed of the grain, which makes it reproducible, unlike Pillow's own noise.
    """
    askew = page.rotate(0.6, Image.Resampling.BICUBIC, fillcolor=255)
    blurred = askew.filter(ImageFilter.GaussianBlur(1.2))
    grain = Image.fromarray(_grain(page.size, seed))
    grainy = Image.blend(blurred, grain, 0.25).point(lambda value: min(255, value * 1.15))
    return Image.open(io.BytesIO(image_file(grainy, "JPEG", quality=40)))


def _grain(size: tuple[int, int], seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(128, 60, size[::-1])
    return noise.clip(0, 255).astype(np.uint8)


def image_file(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def error_rate(expected: str, actual: str) -> float:
    """The Levenshtein distance per expected character."""
    above = list(range(len(actual) + 1))
    for i, letter in enumerate(expected, start=1):
        row = [i]
        for j, other in enumerate(actual, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != other)))
        above = row
    return above[-1] / len(expected)
