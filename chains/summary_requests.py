"""Requests for the summary of a document, as opposed to questions about something."""

import re
import unicodedata
from typing import NamedTuple

from language.answer_language import Language


class SummaryRequest(NamedTuple):
    """What is to be summarized, "" where it is only pointed at; `language` is that of the request.

    With `only_if_named` the text asks for a summary only where a document is called `subject`:
    "What is X about?" may as well ask for X itself.
    """

    subject: str
    language: Language
    only_if_named: bool = False

    @property
    def asks_for_a_part(self) -> bool:
        """Whether, unless a document is called so, it asks for what some passages say."""
        return _PART.search(self.subject) is not None


_PART = re.compile(
    r"\A(?:steps?|ways?|reasons?|rules?|process|procedures?|differences?|how|what|why|when|where|who"
    r"|which|whether|changes?|conditions?|requirements?|options?|benefits?)\b"
    r"|(?:방법|절차|이유|차이점?|조건|과정|순서|단계|기준|종류)\Z"
    r"|(?:方法|手順|理由|違い|条件|流れ|種類|基準|やり方|仕方)\Z",
    re.IGNORECASE,
)
_POLITE = (
    r"(?:(?:please|kindly|hi|hello|ok|and|now|then)[,\s]+|(?:can|could|would|will)\s+you\s+"
    r"|(?:i\s+(?:need|want)|i['’]?d\s+like|i\s+would\s+like)\s+(?:you\s+to\s+)?)*"
)
_SUMMARY = (
    r"(?:(?:executive\s+)?summary|overview|outline|recap|synopsis|abstract|gist|tl;?\s?dr"
    r"|(?:key|main|most\s+important)\s+(?:points|takeaways|ideas|facts))"
)
_SUMMARIZE = r"(?:summari[sz]e|sum\s+up|boil\s+down|recap|outline|condense|tl;?\s?dr)"
_MANNER_EN = (
    r"(?:[,\s]+(?:please|for\s+me|for\s+us|briefly|shortly|quickly|in\s+short|in\s+brief|in\s+a\s+nutshell|again"
    r"|in\s+(?:english|korean|japanese|(?:a\s+few|\w+)\s+(?:sentences?|words|points|bullets?"
    r"|lines?|paragraphs?))))*"
)
_ENGLISH = re.compile(
    rf"{_POLITE}(?:{_SUMMARIZE}(?:\s*[:,]\s*|\s+(?:of\s+|for\s+)?|\Z)"
    rf"|(?:(?:give|show|write|make|tell|get|provide)\s+(?:me\s+|us\s+)?(?:with\s+)?)?"
    rf"(?:an?\s+|the\s+)?(?:short\s+|brief\s+|quick\s+|concise\s+){{0,2}}{_SUMMARY}"
    rf"(?:\s+(?:of|for|on|about)\s+|\s*:\s*|(?=[,\s]+(?:please|for\s)|\Z)))"
    rf"(?:(?:the|a)\s+)?(?:(?:contents?|main\s+points|key\s+points|text)\s+of\s+)?"
    rf"(?P<subject>.*?){_MANNER_EN}",
    re.IGNORECASE | re.DOTALL,
)
_ENGLISH_NAMED = re.compile(
    r"(?:what\s+(?:is|are)|what['’]s)\s+(?P<about>.+?)\s+(?:all\s+)?about"
    r"|what\s+does\s+(?P<says>.+?)\s+(?:say|cover|contain|describe|explain)"
    rf"|what\s+(?:is|are)\s+the\s+{_SUMMARY}\s+of\s+(?P<points>.+)"
    r"|(?!(?:do|does|did|is|are|how|who|where|when|why|which|can|could|should|will)\b)"
    rf"{_POLITE}(?P<named>.+?)\s+(?:summary|overview|in\s+short|tl;?\s?dr)",
    re.IGNORECASE | re.DOTALL,
)
_MANNER_KO = (
    r"(?:(?:간단히|간단하게|짧게|간략히|간략하게|자세히|요점만|핵심만|대충|좀|다시|한번|한\s?번"
    r"|(?:한|두|세|네|다섯|몇|\d+)\s?(?:줄|문장|마디|가지)(?:로|만|정도로)?|(?:한국어|영어|일본어)로)\s*)*"
)
_DO_KO = (
    r"(?:(?:요약(?:을|를|본|문)?|정리(?=\s*(?:좀|해|하|부탁)))\s*(?:좀\s*)?"
    r"(?:해|하(?:여|라|시오|자)?|부탁|알려|보여|만들어|해서\s*(?:알려|보여))?\s*(?:봐|줘|주|줄|드려)?"
    r"(?:요|라|세요|십시오|래요?|실래요?|시겠어요|실\s*수\s*있\S{1,4}|\s*수\s*있\S{1,4}|해요?|합니다|드려요|드립니다)?)"
)
_KOREAN = re.compile(
    rf"{_DO_KO}\s*[:：]\s*(?P<after>.+)"
    rf"|(?P<subject>.*?)(?:의|에\s?대한|에\s?관한)?\s*"
    rf"(?:(?:전체\s*)?(?:주요\s*)?(?:내용|요점|핵심|개요|줄거리)(?:을|를|만|에\s?대해)?\s*)?{_MANNER_KO}{_DO_KO}",
    re.DOTALL,
)
_KOREAN_NAMED = re.compile(
    r"(?P<about>.+?)(?:에는|에|은|는|이|가)?\s*(?:무슨|어떤)\s*(?:내용|문서|이야기)\S{0,3}\s*"
    r"(?:(?:있|담겨|들어|적혀|쓰여|다루|다뤄)\S{0,5}(?:\s*있\S{0,4})?|인가요?|이야|이에요|예요|입니까|이죠)?"
    r"|(?P<named>.+?)(?:의)?\s*(?:개요|요점|핵심\s*내용|주요\s*내용)(?:을|를|은|는)?\s*"
    r"(?:(?:알려|말해|보여|설명해|뭐|무엇)\s?\S{0,5})?",
    re.DOTALL,
)
_MANNER_JA = (
    r"(?:(?:簡単に|短く|簡潔に|手短に|ざっと|ざっくり|要点だけ|もう一度|全体を|(?:日本|英|韓国)語で"
    r"|[0-9一二三四五数]+(?:行|文|点|言|つ)(?:程度|くらい)?(?:で|に)?)[、\s]*)*"
)
_DO_JA = (
    r"(?:(?:要約|サマリー?|まとめ(?=て|を作|を教|をお願))(?:を|文を|して|し|て|た)?\s*"
    r"(?:作って|作成して|教えて|見せて|書いて|お願い|出して)?\s*"
    r"(?:して|し)?(?:もらえますか|いただけますか|くれますか|くれませんか|ください|下さい|下さいますか"
    r"|くださいませんか|お願いします|します|欲しい|ほしい|です|くれ|みて|ね|よ)*)"
)
_JAPANESE = re.compile(
    rf"{_DO_JA}\s*[:：]\s*(?P<after>.+)"
    r"|(?P<roughly>.+?)(?:に(?:つい|関し)て|を)?、?(?:ざっくり|ざっと|かいつまんで|大まかに|おおまかに)"
    r"(?:教えて|説明して|知りたい).{0,8}"
    rf"|(?P<subject>.*?)(?:に(?:つい|関し)て(?:の)?|の)?"
    rf"(?:(?:主な)?(?:内容|要点|ポイント|全体)(?:を|だけ)?)?[をはの]?\s*{_MANNER_JA}{_DO_JA}",
    re.DOTALL,
)
_JAPANESE_NAMED = re.compile(
    r"(?P<about>.+?)(?:に)?(?:は|って)、?(?:何|なに|どんなこと|どのようなこと)"
    r"(?:が|について|を)(?:書|記載|述べ|説明|定め|載)\S{0,14}"
    r"|(?P<named>.+?)の(?:概要|要点|ポイント|主な内容)(?:は|を|について)?"
    r"(?:(?:何|なん)ですか|(?:(?:教えて|説明して|知りたい|お願い)\S{0,8}))?",
    re.DOTALL,
)
_FORMS: tuple[tuple[re.Pattern[str], Language, bool], ...] = (
    (_ENGLISH, "english", False),
    (_KOREAN, "korean", False),
    (_JAPANESE, "japanese", False),
    (_ENGLISH_NAMED, "english", True),
    (_KOREAN_NAMED, "korean", True),
    (_JAPANESE_NAMED, "japanese", True),
)
_MAX_CHARS = 300
_OUTER = " \t\n.,:;!?。、．：？！…\"'“”‘’「」『』〈〉《》[]()（）*`"
_ONLY_POINTS = re.compile(
    r"(?:(?:it|this|that|these|them|all(?:\s+of\s+(?:it|this|that))?|everything|above|the\s+above|here"
    r"|(?:(?:this|that|the|my|these|those|whole|entire|all|attached|uploaded|last|above)\s+)*"
    r"(?:documents?|files?|texts?|pages?|attachments?|uploads?|pdf|(?:conversation|chat|discussion)(?:\s+so\s+far)?))"
    r"|(?:(?:이|그|저|위|올린|첨부한|첨부된|방금|전체)\s*)*"
    r"(?:거|것|걸|건|문서|파일|자료|내용|글|대화|문서\s*전체|첨부\s*파일|위|전체|여기)?(?:을|를|의|은|는)?"
    r"|(?:(?:この|その|あの|上記の|添付(?:の|した)?|アップロードした|今の|全部の?)\s*)*"
    r"(?:これ|それ|あれ|文書|ドキュメント|ファイル|資料|内容|文章|会話|全体|上記|以上|ここ)?[をのは]?)",
    re.IGNORECASE,
)
_KIND_OF_DOCUMENT = re.compile(
    r"\s+(?:documents?|files?|pdf)\Z|\s*(?:문서|파일)(?:을|를)?\Z"
    r"|(?:という|の)?(?:文書|ドキュメント|ファイル)\Z",
    re.IGNORECASE,
)
_PARTICLE = re.compile(r"(?<=[가-힣\w\"'”’」』])(?:을|를)\Z")


def summary_request(text: str) -> SummaryRequest | None:
    """The request that the whole text is; None for any other question."""
    normal = unicodedata.normalize("NFKC", text).strip()
    if len(normal) > _MAX_CHARS:
        return None
    plain = normal.rstrip(_OUTER) or normal
    for form, language, only_if_named in _FORMS:
        if match := form.fullmatch(plain):
            subject = _subject(next((part for part in match.groups() if part), ""))
            return SummaryRequest(subject, language, only_if_named)
    return None


def _subject(text: str) -> str:
    subject = _PARTICLE.sub("", text.strip(_OUTER)).strip(_OUTER)
    if _ONLY_POINTS.fullmatch(subject):
        return ""
    return _KIND_OF_DOCUMENT.sub("", subject).strip(_OUTER) or subject
