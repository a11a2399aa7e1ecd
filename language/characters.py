"""Character ranges by script, written for use inside a regular expression's brackets."""

HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
HIRAGANA = "\u3041-\u3096\u309d-\u309f"
# With the prolonged sound mark and the iteration marks, without the middle dot (a separator).
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
# With the ideographic iteration mark, closing mark and zero, which behave like characters.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = HIRAGANA + KATAKANA
CJK = HANGUL + KANA + HAN
LATIN = (
    "A-Za-z\u00aa\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02af\u1e00-\u1eff"
    "\uff21-\uff3a\uff41-\uff5a"
)
CYRILLIC = "\u0400-\u052f"
