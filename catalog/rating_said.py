"""The least rating that a question asks for."""

import re

_NUMBER = r"(?<![\d.,$])(?P<number>\d{1,3}(?:\.\d{1,2})?)(?!\d|,\d|\.\d)"
_IN_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5,
}  # fmt: skip
_SPELLED = (
    r"(?P<word>\b(?:one|two|three|four|five)\b|(?<=별 )(?:한|두|세|네|다섯)(?= ?개)|"
    r"(?<=별)(?:한|두|세|네|다섯)(?= ?개)|(?<=星)[一二三四五]|[一二三四五](?=つ星))"
)
_SAID = re.compile(f"(?:{_NUMBER}|{_SPELLED})(?P<half> and (?:a )?half)?")
_STARS = re.compile(r"[ -]?stars?\b")
# A number alone is one of stars where a sign says that it is the least of them.
_SIGN_BEFORE = re.compile(r"(?:>=|=>|>|≥)[ =]?$")
_SIGN_AFTER = re.compile(r"\+(?= ?(?:[.,;:!?)の]|$|(?:please|only|in|for|and)\b))")
_COUNTS_BEFORE = re.compile(r"\b(?:for|(?:party|group|seats?|room|table)(?: of)?) $")
_NOTHING_BELOW = re.compile(
    r"\b(?:nothing|not|no|none|never|don't|won't|wouldn't|can't|avoid|skip|without)\b[a-z ]{0,24}\b"
    r"(?:below|beneath|under|less than|lower than|worse than)(?: a)? ?$"
)
_BELOW_REFUSED = re.compile(
    r" ?(?:점|点|つ|星)? ?(?:이하|미만|아래|밑|보다 ?낮|以下|未満|より低)"
    r"[가-힣ぁ-ん店所 ]{0,8}?"
    r"(?:싫|말고|빼|제외|안 ?[가갈되돼됩봐]|사절|거[르른를릅]|패스|별로|곤란|피[하할해]|못 ?가|"
    r"嫌|避|除|ng|行か|行き|だめ|ダメ|無理|いや|イヤ|パス|不可|勘弁|断)"
)
_NAMES_A_RATING_BEFORE = re.compile(
    r"(?:\b(?:rat(?:ed|ings?|e)|stars?|scores?|scored|scoring|reviewed|reviews?)\b[a-z ,:']{0,24}"
    r"(?:>=?|≥)? ?|(?:별점|평점|평가|점수|리뷰|별|스코어|레이팅|레이팅스)[가-힣 :]{0,8}|"
    r"(?:星|評価|評点|点数|レビュー|口コミ|スコア|レーティング|食べログ|平均|"
    r"[★☆])[ぁ-んァ-ヶー一-龥 :]{0,8})$"
)
_NAMES_A_RATING_AFTER = re.compile(
    r"\+? ?(?:-? ?stars?\b|점|성급|星|点|つ星|[★☆]|"
    r"(?:or (?:higher|better|more|above)|and (?:up|above|higher|over)|plus)? ?rat(?:ed|ings?)\b|"
    r" out of|以上の(?:評価|店の評価|レビュー|星)|이상의? ?(?:평점|별점|평가)|/ ?\d)"
)
_NO_RATING_AFTER = re.compile(
    r" ?(?:점 ?만점|点満点|점 ?짜리 ?만점|명|인분|인|분|시|개월|名|人|分|時|円|원|ドル|달러|km|min|"
    r"\+? ?(?:people|persons?|guests?|of us|adults?|kids?|children|friends|dollars?|bucks|usd|"
    r"hours?|miles?|blocks?|years?|days?|pm\b|am\b|%))"
)
_AT_MOST_BEFORE = re.compile(
    r"(?<!not )(?<!no )(?<!never )(?<!n't )\b(?:below|under|less than|lower than|at most|out of) ?$"
)
_AT_MOST_AFTER = re.compile(
    r" ?(?:stars?|점|点|つ|星)? ?(?:이하|미만|까지|아래|밑|보다 ?낮|以下|未満|まで|より低|"
    r"or (?:less|lower|below|under|worse))"
)  # fmt: skip


def least_rating(text: str, scale: float) -> float | None:
    """The least rating from 0 to `scale` that a folded question asks for, the first one said.

    "4.5점 이상", "rated above 4", "星4以上". None where none is asked for, and for one that is not
    on the scale.
    """
    for said in _SAID.finditer(text):
        before, after = text[max(0, said.start() - 40) : said.start()], text[said.end() :][:24]
        if _is_least(said, before, after):
            rating = float(_IN_WORDS[said["word"]] if said["word"] else said["number"])
            rating += 0.5 if said["half"] else 0
            if rating <= scale:
                return rating
    return None


def _is_of_stars(said: re.Match[str], before: str, after: str) -> bool:
    """별 네 개, 星四つ, four stars, 4.5+; a bare 4+ only where nothing is counted."""
    if said["word"]:
        return not said["word"].isascii() or _STARS.match(after) is not None
    if "." in said["number"]:
        return after.startswith("+")
    return _SIGN_AFTER.match(after) is not None and not _COUNTS_BEFORE.search(before)


def _is_least(said: re.Match[str], before: str, after: str) -> bool:
    """Whether a number is the least rating by what stands around it."""
    names = _NAMES_A_RATING_BEFORE.search(before) or _NAMES_A_RATING_AFTER.match(after)
    if _NO_RATING_AFTER.match(after):
        return False
    is_clear = names or "." in (said["number"] or "")
    if _NOTHING_BELOW.search(before) or (is_clear and _BELOW_REFUSED.match(after)):
        return True
    at_most = _AT_MOST_BEFORE.search(before) or _AT_MOST_AFTER.match(after)
    is_least = names or _is_of_stars(said, before, after) or _SIGN_BEFORE.search(before)
    return bool(is_least) and not at_most
