"""Questions for the documents that say something, rather than for what they say."""

import re
import unicodedata
from typing import NamedTuple

from language.answer_language import Language


class DocumentRequest(NamedTuple):
    """What the documents are to be about or to say; `language` is that of the request."""

    topic: str
    language: Language


_DOCUMENTS = (
    r"(?:documents?|docs?|files?|pages?|papers?|reports?|handbooks?|manuals?|guides?|guidelines?"
    r"|policy|policies|sources?|articles?|minutes|specifications?|specs?)"
)
_SAYS = (
    r"(?:says?|mentions?|mentioned|talks?\s+about|covers?|describes?|explains?|discuss(?:es)?"
    r"|deals?\s+with|defines?|refers?\s+to|states?|specif(?:y|ies)|addresse?s?|documents?|governs?"
    r"|regulates?|tells?\s+(?:me|us|you)(?:\s+about)?|speaks?\s+(?:of|about)|contains?"
    r"|(?:is|are)\s+(?:mainly\s+|mostly\s+)?(?:about|on|concerned\s+with|related\s+to)"
    r"|ha(?:s|ve)(?!\s+(?:been|to|\w+ed)\b)(?:\s+(?:something|anything|information|details|a\s+section|the\s+rules)"
    r"\s+(?:about|on|for))?"
    r"|(?:gives?|includes?|provides?|contains?)\s+(?:information|details|instructions|the\s+rules)"
    r"\s+(?:about|on|for))"
)
_ABOUT = r"(?:about|on|for|regarding|concerning|related\s+to)"
_POLITE = r"(?:(?:please|can\s+you|could\s+you|tell\s+me|hello|hi)[,\s]+)*"
_ENGLISH = (
    rf"{_POLITE}(?:in\s+)?(?:which|what)\s+(?:of\s+(?:the|our|my)\s+|other\s+)?{_DOCUMENTS}\s+"
    rf"(?:that\s+)?{_SAYS}\s+(?:that\s+|about\s+)?(?P<topic>.+)",
    rf"{_POLITE}(?:in\s+)?(?:which|what)\s+{_DOCUMENTS}\s+(?:can|do|could|would|should|must)\s+"
    r"(?:i|we|you|one)\s+(?:find|read|learn|look(?:\s+up)?|see|consult|check)\s+"
    r"(?:(?:more|something|anything|information|details|up)\s+)?(?:(?:about|on|in|at|for|that)\s+)?"
    r"(?P<topic>.+)",
    rf"{_POLITE}(?:in\s+)?(?:which|what)\s+{_DOCUMENTS}\s+(?:is|are|does|do)\s+(?P<topic>.+?)\s+"
    r"(?:documented|described|mentioned|written(?:\s+down)?|explained|covered|defined|discussed"
    r"|specified|stated|appear|found|regulated)(?:\s+in)?",
    rf"{_POLITE}where(?:['’]s|\s+is)\s+it\s+(?:documented|described|mentioned|written(?:\s+down)?"
    r"|explained)\s+(?:that\s+)?(?P<topic>.+)",
    rf"{_POLITE}where(?:['’]s|\s+(?:is|are))\s+(?!it\s+(?:said|stated))(?P<topic>.+?)\s+"
    r"(?:documented|described|mentioned|written(?:\s+down)?|explained|discussed)",
    rf"{_POLITE}where\s+(?:can|do|could|should|would)\s+(?:i|we)\s+(?:look\s+up|read\s+up\s+on)\s+"
    r"(?P<topic>.+)",
    r"where\s+(?:can|do|could)\s+(?:i|we)\s+(?:read(?:\s+up)?|learn|find\s+(?:something|anything|more"
    rf"|information|details|{_DOCUMENTS}))\s+{_ABOUT}\s+(?P<topic>.+)",
    rf"{_POLITE}(?:(?:(?:i\s+am\s+|i['’]?m\s+)?(?:looking\s+for|after)|i\s+(?:need|want))\s+)?"
    rf"(?:the\s+|an?\s+)?(?:documents?|docs?|files?)\s+(?:about|on|regarding|(?:that|which)\s+{_SAYS}"
    r"|mentioning|describing|explaining|covering)\s+(?P<topic>.+)",
    rf"{_POLITE}(?:find|list|show|give|search\s+for|name)\s+(?:me\s+)?(?:all\s+|any\s+)?(?:the\s+|a\s+)?"
    rf"{_DOCUMENTS}\s+(?:{_ABOUT}|(?:that|which)\s+{_SAYS}|mentioning|describing|covering|discussing)"
    r"\s+(?P<topic>.+)",
    rf"{_POLITE}(?:is|are)\s+there\s+(?:an?y?|some)\s+{_DOCUMENTS}\s+"
    rf"(?:{_ABOUT}|(?:that|which)\s+{_SAYS}|mentioning|describing|covering)\s+(?P<topic>.+)",
    rf"{_POLITE}do\s+(?:we|you)\s+have\s+(?:an?y?\s+|some\s+)?{_DOCUMENTS}\s+"
    rf"(?:{_ABOUT}|(?:that|which)\s+{_SAYS}|mentioning|describing|covering)\s+(?P<topic>.+)",
)
_DOCUMENTS_KO = (
    r"(?:문서|파일|자료|페이지|문건|규정|매뉴얼|안내서|가이드|지침|회의록|보고서|글)(?:들)?"
)
# "육아휴직에 관한 규정이 있나요?" asks for the rule.
_FILES_KO = r"(?:문서|파일|자료|페이지|매뉴얼|안내서|가이드|회의록|보고서)(?:들)?"
_WHICH_KO = rf"(?:어느|어떤|무슨)\s*{_DOCUMENTS_KO}(?:에서는|에서|에는|에|가|이|는|은|를|을)?"
_SAYS_KO = (
    r"(?:나오|나와|나옵|나온|있(?:나|어|습|는|을|지)|적혀|적힌|쓰여|쓰인|써\s*있|언급|다루|다룹|다뤄|설명|"
    r"들어\s*있|실려|실린|기재|기술|규정(?:되|하|돼)|정의|명시|말하|말해|볼\s*수|알\s*수|찾을\s*수|"
    r"확인|보면|봐야|참고|참조|읽)"
)
_SAYING_KO = (
    r"(?:에\s?대한|에\s?관한|(?:에\s?대해서?|에\s?관해서?|이|가|을|를|은|는|라고|다고)?\s*"
    r"(?:나온|나오는|나와\s?있는|적힌|적혀\s?있는|쓰인|쓰여\s?있는|써\s?있는|설명한|설명하는|설명된|다루는|다룬"
    r"|언급한|언급하는|언급된|정리한|정리된|담긴|담은|실린|들어\s?있는|정한|규정한|알려\s?주는|말하는|기재된"
    r"|명시된|(?:내용|정보|설명|규정)[이가]?\s?있는|볼\s?수\s?있는))"
)
_KOREAN = (
    rf"{_WHICH_KO}\s+(?P<topic>.+?)(?:이|가|은|는|을|를|에\s?대해서?|에\s?대한|에\s?관해서?|에\s?관한)?"
    rf"\s*(?:내용(?:이|을)?\s*)?{_SAYS_KO}\S*(?:\s+수)?(?:\s+(?:있\S*|되어\s*있\S*|돼\s*있\S*|하나요|해요|해))?",
    rf"(?P<topic>.+?)(?:이|가|은|는|을|를|에\s?대해서?(?:는)?|에\s?대한|에\s?관해서?(?:는)?|에\s?관한)?"
    rf"\s*(?:내용(?:이|은|을)?\s*|것은\s*)?{_WHICH_KO}\s*{_SAYS_KO}\S*"
    r"(?:\s+수)?(?:\s+(?:있\S*|되어\s*있\S*|돼\s*있\S*|하나요|해요|해))?",
    rf"(?P<topic>.+?)\s*{_SAYING_KO}\s*{_FILES_KO}(?:가|이|는|은|를|을|에는|에|로|으로)?\s*"
    r"(?:(?:좀|다|모두|혹시|바로)\s*)*"
    r"(?:(?:어느|어떤|어디|무엇|뭐|뭔|뭘|있|찾|보여|알려|목록|추천|주세요|줘|줄래)\S*(?:\s+\S{1,6}){0,2})?",
)
_DOCUMENTS_JA = (
    r"(?:文書|ドキュメント|ファイル|資料|ページ|規程|規定|マニュアル|ガイド|手順書|議事録"
    r"|報告書|仕様書)"
)
_FILES_JA = (
    r"(?:文書|ドキュメント|ファイル|資料|ページ|マニュアル|文献|ガイド|手順書|議事録|報告書)"
)
_WHICH_JA = rf"(?:どの|どんな|何の|なんの|どちらの){_DOCUMENTS_JA}"
_SAYS_JA = (
    r"(?:書(?:かれ|いて|いてあ)|載(?:って|り)|のって|記(?:載|され|述)|言及|説明|扱(?:って|い|わ)|触れ|述べ"
    r"|定め|規定|見れ|見たら|読め|読んだら|わか|分か|確認|参照|出て|あり|ある|含ま|まとめ)"
)
_SAYING_JA = (
    r"(?:書かれ(?:た|て(?:い)?る)|書いて(?:ある|る)|記載(?:され(?:た|て(?:い)?る)|がある|のある)|記述がある"
    r"|説明(?:した|して(?:い)?る|され(?:た|て(?:い)?る))|載って(?:い)?る|載せて(?:い)?る|扱(?:う|った|って(?:い)?る)"
    r"|(?:述べ|定め|触れ|まとめ)(?:た|て(?:い)?る|てある)|言及(?:した|して(?:い)?る)|[分わ]かる|出て(?:い|く)?る)"
)
_LISTING_JA = (
    r"(?:[はをが]?、?(?:どれ|どこ|何|なに|ある|あり|探|教え|見せ|知り|出して|ください).{0,12})?"
)
_JAPANESE = (
    rf"{_WHICH_JA}を(?:見|読|参照す|確認す)(?:れば|めば|たら|んだら)、?(?P<topic>.+?)[がをは]?{_SAYS_JA}.{{0,14}}",
    rf"{_WHICH_JA}(?:には|では|に|で|が|を|は)、?(?P<topic>.+?)"
    rf"(?:に(?:つい|関し)て|のこと|こと|と|が|は|を|も)*{_SAYS_JA}.{{0,14}}",
    rf"(?P<topic>.+?)(?:に(?:つい|関し)て(?:は)?|のことは|ことは|が|は|を|と)*、?"
    rf"{_WHICH_JA}(?:には|では|に|で|が|を|は)?{_SAYS_JA}.{{0,14}}",
    rf"(?P<topic>.+?)(?:に(?:つい|関し)て|のことが|のことを|を|が|と)?{_SAYING_JA}{_FILES_JA}{_LISTING_JA}",
    rf"(?P<topic>.+?)に(?:つい|関し|関す)(?:て|る)の?{_FILES_JA}{_LISTING_JA}",
)
_FORMS: tuple[tuple[Language, tuple[re.Pattern[str], ...]], ...] = (
    ("english", tuple(re.compile(form, re.IGNORECASE | re.DOTALL) for form in _ENGLISH)),
    ("korean", tuple(re.compile(form, re.DOTALL) for form in _KOREAN)),
    ("japanese", tuple(re.compile(form, re.DOTALL) for form in _JAPANESE)),
)
_MAX_CHARS = 300
_OUTER = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』"


def document_request(text: str) -> DocumentRequest | None:
    """The request that the whole text is; None for any other question."""
    normal = unicodedata.normalize("NFKC", text).strip(_OUTER)
    if len(normal) > _MAX_CHARS:
        return None
    for language, forms in _FORMS:
        for form in forms:
            if match := form.fullmatch(normal):
                return DocumentRequest(match["topic"].strip(_OUTER), language)
    return None
