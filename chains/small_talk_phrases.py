"""What people say to whoever answers, rather than ask about the documents."""

import re
import unicodedata
from enum import StrEnum

from language.characters import HAN, KANA

MAX_CHARS = 120
"""Longer texts are never small talk."""


class SmallTalk(StrEnum):
    """What is answered without looking into the documents."""

    GREETING = "greeting"
    FAREWELL = "farewell"
    THANKS = "thanks"
    INTRODUCTION = "introduction"
    """Somebody wants to know who answers, and what there is to ask."""


# Phrases are compared without punctuation, in lower case. Each must be a whole text together with
# other such phrases: "Hello in the API" and "Thanks to whom?" are no small talk.
_PHRASES: dict[SmallTalk, str] = {
    SmallTalk.GREETING: r"""
        (?:hi+|hello+|hey+|hiya|howdy|greetings|good\ (?:morning|afternoon|evening|day))
            (?:\ (?:there|everyone|everybody|all|team|again|footnote))*
        | (?:how\ are\ you|hows\ it\ going|how\ do\ you\ do|whats\ up)(?:\ (?:doing|today))*
        | (?:nice|pleased|good)\ to\ meet\ you
        | 안녕(?:하세요|하십니까|하신가요)? | 안뇽 | 하이 | 헬로우?
        | (?:만나서\ ?)?(?:반가워요?|반갑습니다)
        | 좋은\ ?(?:아침|오후|저녁)(?:입니다|이에요|이네요)? | 처음\ ?뵙겠습니다
        | 잘\ ?지내(?:세요|셨어요|니|요)
        | こんにち[はわ] | こんばん[はわ] | おはよう(?:ございます)? | はじめまして | 初めまして
        | やあ | どうも | ハロー | もしもし | お世話になっ(?:ています|ております) | お疲れ様です
        | よろしく(?:お願い(?:します|いたします|致します))? | お?元気ですか
    """,
    SmallTalk.FAREWELL: r"""
        bye(?:\ bye)? | good\ ?bye | see\ you(?:\ (?:later|soon|tomorrow))? | good\ night
        | have\ a\ (?:nice|good|great)\ (?:day|evening|weekend|one)
        | 잘\ ?가요? | 안녕히\ ?(?:계세요|가세요) | 바이(?:바이)? | 잘\ ?자요?
        | 좋은\ ?하루\ ?(?:되세요|보내세요) | 수고하세요
        | さようなら | さよなら | バイバイ | またね | では?また | おやすみ(?:なさい)? | 失礼します
    """,
    SmallTalk.THANKS: r"""
        (?:ok(?:ay)?\ )?(?:many\ thanks|thanks|thank\ (?:you|u)|thx|ty|cheers)
            (?:\ (?:a\ lot|a\ million|so\ much|very\ much|again|everyone|footnote))*
            (?:\ for\ (?:(?:your|the|all\ your)\ )?
                (?:help|answers?|info|information|explanation|support|time|quick\ (?:answer|help)))?
        | (?:much\ appreciated|(?:i\ )?appreciate\ (?:it|that|your\ help))
        | ok(?:ay)? | great | perfect | awesome | cool | got\ it | i\ see | well\ done | good\ job
        | (?:that|this|it|you)(?:s|\ is|\ was|re|\ are)?\ (?:very\ |really\ |so\ )?
            (?:helpful|great|perfect|all|helps|helped)(?:\ (?:me|a\ lot))*
        | (?:정말|너무|진짜|아주|대단히|매우)?\ ?
            (?:(?:답변|도움|설명)(?:해\ ?주셔서|\ ?주셔서)?\ ?)?
            (?:(?:알려|도와|가르쳐)\ ?(?:주셔서|줘서)\ ?)?(?:정말\ )?
            (?:감사(?:합니다|해요|드립니다|드려요)?|고맙습니다|고마워요?|고맙네요|땡큐)
        | (?:많은\ |큰\ )?도움이?\ ?(?:많이\ )?(?:됐|되었)(?:어요|습니다|네요)
        | 수고하?(?:셨습니다|했어요?) | 알겠습니다 | 알겠어요? | 네+ | 넵 | 오케이
        | 좋아요 | 좋습니다
        | (?:(?:ご?(?:回答|返信|説明|協力|教示|対応)
            |.{0,8}(?:てくれ|て頂き|ていただき|てくださ[りっ]))て?\ ?)?
            (?:本当に|どうも|誠に|とても)?\ ?
            (?:ありがと[うー]?|有り?難う)(?:ございま(?:す|した)|ね)?
        | (?:感謝(?:します|いたします|しています)|サンキュー|助かり(?:ます|ました))
        | 了解(?:です|しました|いたしました)? | [分わ]かりました | 承知(?:しました|いたしました)
        | なるほど | はい | お疲れ様でした | 役に立ちました
    """,
    SmallTalk.INTRODUCTION: r"""
        (?:and\ |so\ )?(?:who|what)(?:re|\ are|\ r)\ (?:you|u)(?:\ exactly)?
        | what(?:s|\ is)\ your\ name | introduce\ yourself | (?:please\ )?tell\ me\ about\ yourself
        | what\ (?:else\ )?(?:can|could|do)\ (?:you|u)\ (?:do|answer|know|offer|help\ (?:me\ )?with)
            (?:\ (?:for\ (?:me|us)|here|exactly))*
        | what\ (?:else\ )?(?:can|should)\ i\ (?:ask|do)(?:\ (?:you|here|with\ (?:you|this)))+
        | what\ (?:kinds?|sorts?|types?)\ of\ (?:questions|things)
            \ can\ (?:i\ ask(?:\ you)?|you\ (?:answer|do))
        | how\ (?:do\ you\ work|(?:do|can|should)\ i\ (?:use|talk\ to)\ you)
        | (?:can|could)\ you\ help(?:\ me)?(?:\ please)? | help(?:\ me)?(?:\ please)?
        | how\ can\ you\ help(?:\ (?:me|us))?
        | what\ is\ this\ (?:app|tool|site|website|program|service)(?:\ for)?
        | what\ does\ this\ (?:app|tool|site|website|program|service)\ do
        | are\ you\ (?:an?\ )?(?:real\ )?
            (?:ai|bot|robot|human|person|chatbot|chatgpt|gpt|claude|gemini|language\ model|llm)
        | who\ (?:made|built|created|wrote|developed)\ you
        | (?:너는?|넌|네가|당신은?|그쪽은|자네는?)\ ?
            (?:누구|뭐|무엇|어떤\ ?(?:사람|프로그램|서비스))
            (?:야|니|냐|이?예요|이?에요|이?세요|입니까|이십니까|인가요|하는\ ?(?:거야|건가요|애야))?
        | 누구(?:세요|십니까|신가요|시죠)
        | (?:너|네|당신)(?:는|의)?\ ?이름(?:이|은)?\ ?(?:뭐|무엇)\w{0,4}
        | 이름이\ ?(?:뭐|무엇)(?:야|니|예요|에요|인가요)
        | (?:(?:너는?|넌|당신은|여기서는?)\ )?(?:(?:나에게|저에게|나한테)\ )?
            (?:뭘|뭐를?|무엇을|무얼|(?:무슨|어떤)\ ?(?:일을?|것을|걸|질문을?|도움을?))\ ?
            (?:(?:할|해\ ?줄|도와\ ?줄|답할|대답할|물어\ ?볼|질문할|줄)\ ?수\ ?있
                |물어보면\ ?되|도와주)
            \w{1,6}(?:\ ?(?:알려|말해)\ ?(?:줘|주세요|줄래))?
        | 자기\ ?소개\ ?(?:좀\ ?)?(?:해\ ?(?:줘요?|주세요|봐요?)|부탁\w{0,5})?
        | (?:좀\ )?도와\ ?(?:줘요?|주세요|줄래요?|주실\ ?수\ ?있나요) | 도움말
        | (?:(?:너는?|넌|당신은)\ ?)?(?:사람|인간|로봇|봇|챗봇|ai|인공지능|챗gpt|chatgpt)
            (?:이야|야|이니|니|인가요|이에요|예요|이세요|입니까)
        | (?:(?:あなた|君|きみ|お前|おまえ)(?:は|って|の名前は)?)
            (?:誰|だれ|何|なに|何者|どなた|どんな(?:人|サービス|もの))
            (?:ですか|でしょうか|なの|なんですか|なのですか|だ)?
        | (?:どなた|誰|何者)ですか | お?名前(?:は(?:何|なん)ですか|は|を教えて(?:ください)?)
        | (?:(?:あなた|君|きみ)(?:は|に(?:は)?)|ここでは?|こちらでは?)?
            (?:何|なに|どんな(?:こと|質問|事))(?:が|を|に)?
            (?:(?:できる|出来る|してくれる|してもらえる|聞ける|質問できる|答えられる)
                (?:の|んですか|のですか|のでしょうか|か教えて(?:ください)?)?
             |(?:でき|出来|してくれ|してもらえ|聞け|質問でき|答えられ)ます(?:か|でしょうか)?)
        | 何を(?:聞|質問し)(?:けばいい|たらいい|いたらいい)(?:ですか|の)?
        | 自己紹介(?:を?(?:して(?:ください|くれ)?|お願い(?:します)?))? | ヘルプ
        | (?:助けて|手伝って)(?:ください|くれ(?:る|ますか))?
        | (?:(?:あなた|君|きみ)は)?(?:人間|ai|ロボット|ボット|チャットボット|chatgpt)(?:ですか|なの)
    """,
}
_KINDS = "|".join(f"(?P<{kind}>{phrases})" for kind, phrases in _PHRASES.items())
# Japanese sets no space between two phrases.
_PHRASES_ONLY = re.compile(
    rf"(?:(?:{_KINDS})(?:\ |\Z|(?<=[{KANA}{HAN}])(?=[{KANA}{HAN}])))+", re.VERBOSE
)
_APOSTROPHE = re.compile(r"(?<=[a-z])['’](?=[a-z])")
_LAUGHTER = re.compile("[ㅋㅎㅠㅜ]{2,}")
_NO_WORD = re.compile(r"[\W_]+")
_PRECEDENCE = (SmallTalk.INTRODUCTION, SmallTalk.THANKS, SmallTalk.FAREWELL, SmallTalk.GREETING)


def small_talk(text: str) -> SmallTalk | None:
    """Which small talk the whole text is; None where any of it asks or says something else.

    Of several phrases ("Hi! What can you do?") the one that wants the fullest answer decides.
    """
    if len(text) > MAX_CHARS:
        return None
    normal = unicodedata.normalize("NFKC", _LAUGHTER.sub(" ", text)).casefold()
    phrases = _PHRASES_ONLY.fullmatch(_NO_WORD.sub(" ", _APOSTROPHE.sub("", normal)).strip())
    if phrases is None:
        return None
    found = phrases.groupdict()
    return next(kind for kind in _PRECEDENCE if found[kind] is not None)
