"""Questions that a whole list or all steps answer, rather than one sentence."""

import re
import unicodedata

_ASKS_FOR_ALL = re.compile(
    r"\bhow (?:do|does|can|could|should|would|to|am|are)\b|\bwalk me through\b|\bsteps?\b"
    r"|\bwhich \w+s\b|\bwhat (?:are|else|should|must|jobs|things|kinds?|sorts?|types?)\b"
    r"|\blist\b|\ball (?:the|of|our)\b|\beverything\b|\beach of\b|\bin (?:the right )?order\b"
    r"|어떻게|어떡|방법|절차|순서|단계|어떤|무엇무엇|모두|전부|목록|정리|각각|어디어디|뭐뭐|누구누구"
    r"|どうやって|どうすれ|どうした(?:ら|い)|どうする|どのように|どんな|どういう|手順|手続|方法|やり方"
    r"|すべて|全て|全部|ぜんぶ|一覧|それぞれ|どこどこ|何と何|教えて",
    re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Whether the question asks how something is done, or for all things of a kind."""
    return _ASKS_FOR_ALL.search(unicodedata.normalize("NFKC", question)) is not None
