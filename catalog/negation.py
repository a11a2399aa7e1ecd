"""Whether the words around a judgement turn it into its opposite."""

import re

_REACH = 40
_ENGLISH = re.compile(
    r"(?:\b(?:not|never|no|none|without|hardly|barely|rarely|isnt|wasnt|dont|doesnt|didnt|cant|nor|"
    r"neither|aint|avoid|avoiding|zero|lack of|lacks|lacked|lacking|free of|far from|anything but|"
    r"less|nothing|minus|hate|hates|skip)|n't)\b"
    r"(?! (?:only|just|miss|to mention|forget|wait to)\b)"
    r"(?: (?!(?:and|but|or|so|yet|because|with|if|matter|care|mind|"
    r"enjoy|like|love|appreciate)\b)[a-z'-]+){0,4} ?$"
)
_KOREAN_BEFORE = re.compile(r"(?:(?:^|[^가-힣])(?:안|못|덜|안 그리)|하나도 안|전혀 안) ?$")
_KOREAN_AFTER = re.compile(
    r"[가-힣]{0,3}?(?:(?:지[은는도가를]? ?|진 ?)(?:않|못|아니|마[세라])|"
    r"(?:[이가은는도] ?|[함임]이 |[함임] |거?나 )?"
    r"(?:거의 |전혀 |하나도 |별로 |딱히 )?없[는이었어고다으음습네더지죠]|"
    r"(?:[은는한운] )?(?:것|거|곳|데|편)?[은는이가도]? ?아니)"
)
_JAPANESE_AFTER = re.compile(
    r"(?:くて?|では|じゃ|で|とは|[しりえけべ]|[がはもの]|さ[がはもの])?(?:は|も)?"
    r"(?:あまり|全く|まったく|ほとんど|全然|一切|そんなに)?"
    r"(?:な[いしく](?!ら)|なかっ|なけれ|なさそう|ありませ|言えませ|言えな|無[いしく]|しませ|せず|"
    r"ません|ず[にと、])"
)


def is_negated(text: str, start: int, end: int) -> bool:
    """Whether what stands at that span of a folded text is denied: "not", 안, 〜지 않, 〜ない.

    Looks at most 40 letters around.
    """
    before = text[max(0, start - _REACH) : start]
    after = text[end : end + _REACH]
    times = (
        bool(_ENGLISH.search(_same_clause(before)))
        + bool(_KOREAN_BEFORE.search(before) or _KOREAN_AFTER.match(after))
        + bool(_JAPANESE_AFTER.match(after))
    )
    return times % 2 == 1


def _same_clause(before: str) -> str:
    return re.split(r"[,.;:!?\n]", before)[-1]
