"""The phrases by which questions say how much something matters."""

import re

STOP = re.compile(
    r"[.!?;。\n](?!\d)|,(?!\d)|、|\bbut\b|\bmust\b|\bdefinitely\b|지만|는데|꼭|반드시|무조건|"
    r"\band (?=[a-z ]{0,24}\b(?:must|has to|have to|needs? to|should)\b)|"
    r"けど|[たいだす]が|必ず|絶対"
)
SENTENCE_STOP = re.compile(r"[!?;。\n]|\.(?!\d)|\bbut\b|지만|는데|けど")
COORDINATED = re.compile(
    r",? (?:and|or|nor|&) (?:the |a |about )?|[와과]? ?|이?랑 ?|이?나 ?|하고 ?|거나 ?|"
    r"[은는이가도]? |[やとも、・]+|たり"
)
BEFORE = re.compile(
    r"\b(?:(?:do not|don't|doesn't|does not|dont|didn't|never|wouldn't|won't|would not|"
    r"will not) (?:really |even |much )?"
    r"(?:care|mind|worry|fuss|need(?! to))(?: (?:too )?much)?(?: (?:about|for|if))?|"
    r"(?:not|n't|never) (?:too |very |so |really |overly )?(?:worried|fussed|concerned|picky|"
    r"bothered|fussy) "
    r"(?:about|by|with)|couldn't care less about|could care less about|regardless of|"
    r"irrespective of|"
    r"no matter(?: (?:what|how|the))?|(?:ok|okay|fine|cool|happy|willing|ready|prepared|glad) "
    r"(?:with|to)|whatever the|never mind|forget about|ignore|ignoring|without worrying about|"
    r"(?:doesn't|does not|don't|do not|need not|needn't) (?:have to |need to )?be|money for|"
    r"any(?= (?:price|budget))|no limit on|unlimited|not looking for|not after|"
    r"(?:doesn't|does not) (?:really )?matter(?: to (?:me|us))?(?: (?:if|how|whether|about))+)\b|"
    r"いくらでも|何時間でも"
)
BEFORE_BLAME = re.compile(r"\b(?:even if|even though|can be|may be|might be|could be|even)\b")
AFTER = re.compile(
    r"\b(?:(?:does not|doesn't|do not|don't|dont|doesnt|won't|need not) (?:really |much |"
    r"even )?matter(?! (?:to (?:me|us) )?(?:if|how|whether|about))|"
    r"(?:is|are|being|'s) (?:totally |perfectly |also |absolutely |completely |just )?(?:fine|ok|"
    r"okay|"
    r"all right|alright|irrelevant|secondary|unimportant|acceptable|flexible|whatever|up to you|"
    r"no (?:issue|problem|object|concern|big deal|matter))|(?:is not|isn't|are not|aren't|not) "
    r"(?:so |that |very |really |too |particularly |all that )?(?:important|an issue|a problem|"
    r"a concern|everything|the point|a priority|a big deal|a factor|a worry|relevant|"
    r"an obstacle|my concern)|"
    r"no object|no problem|no issue|not important|no limit|be damned|i can live with)\b|"
    # "Food matters, decor doesn't": the verb is the one that was said before.
    r"\b(?:do|does|is|are)(?: not|n't)(?: really| so much| at all| (?:for|to) (?:me|us))*"
    r"(?= ?(?:[.,;!?]|$))|"
    r"상관 ?[은이도]? ?(?:전혀 )?(?:없|안|않|무)|무관|신경 ?[을은도]? ?(?:안|끄|쓰지|꺼)|"
    r"중요하[지진] ?(?:는 )?않|중요치 ?않|안 ?중요|안 ?따[지져]|따지지 ?[는도]? ?않|"
    r"안 ?[가봐보]리|가리지|"
    r"구애 ?(?:를 |는 )?(?:받지|안)|개의치|관계 ?[는가]? ?없|얼마든|아무래도|노 ?상관|불문|"
    r"제한 ?[은이]? ?(?:없|안)|"
    r"넉넉|(?<![설릴갈할] )필요 ?[는은가]? ?없|각오|어떻든|어떠하든|어찌 ?되|뒷전|둘째|포기|감수|"
    r"걱정 ?[은]? ?(?:없|안|마|하지)|"
    r"든지 ?말든|든 ?말든|생각 ?안|부차|아무렇|안 ?봐|"
    r"気にし(?:な|ま|て(?:い)?な|て(?:い)?ま|てお|ませ)|気に(?:せ|かけ)|"
    r"(?<=[段格算間用金][はがも])気にな(?:りませ|らな)|"
    r"問わ[なず]|問いませ|不問|関係[なあ]|"
    r"どうでも|普通で(?:い|良|よ|構|大丈夫)|보통이면 ?(?:돼|됩|충분)|こだわら|こだわりませ|"
    r"こだわり[はも]?(?:な|あり)|二の次|重要(?:では|じゃ)|"
    r"重視し[なま]|"
    r"重視(?:して|は)(?:い)?(?:ませ|な)|いくらでも|度外視|[構かま]わ(?:な|ず|ん)|かまいま|構いま|"
    r"厭[いわ]|いとわ|"
    r"惜し[まみ]|後回し|なくて(?:も)?(?:いい|良い|よい|大丈夫)|必要[はも]?(?:な|あり)|求め(?:な|"
    r"ませ|てな|ていな|てい?ませ)|"
    r"期待し(?:な|て(?:い)?な|ませ|て(?:い)?ませ)|心配[はも]?(?:な[いくし]|い[りら]|し[なま])|"
    r"糸目|無視"
)
# "Even if it is so, it is fine": who names a wheelchair that way wants it to be fine.
CONCESSION = re.compile(
    r"(?<!테리)(?<!체)[어아여려워해러라져커싸서와대이빠세매짜써쳐퍼]도 ?(?:조금 |좀 |전혀 |다 |"
    r"정말 |뭐 |크게 |별로 )?"
    r"(?:괜찮|갠찮|괜춘|상관|좋|됩|되[고니는요지거며]|돼|된다|됨|무방|ok|오케|노상관|감수|기다|"
    r"참|감당|이해|개의|신경|갈|가고)|"
    r"[은는] ?(?:건|것은|거는?|것도|것쯤은?) ?(?:다 |별로 |전혀 )?(?:괜찮|상관|문제 ?없|오케|ok|참|"
    r"감수|견디|견딜)|(?:참을|견딜|감수할) ?수 ?있|"
    r"(?:の|こと|列|時間|待ち)[はもが、](?:全然|まったく|全く|別に|特に|多少は?|少しなら|ある程度)?"
    r"(?:大丈夫|だいじょうぶ|平気|ok|オッケー|問題な|問題あり|構|かま|苦にな|苦じゃ|苦では|許|"
    r"我慢(?!でき(?:な|ま(?!す))|なら|し(?:たくな|な|ま(?!す))))|"
    r"(?<=待)て(?:る|ます)|(?<=並)べ(?:る|ます)|"
    r"[てで]も ?(?:全然|まったく|別に|特に|全く|多少は|少しなら)? ?(?:いい|良い|よい|良く|よく|"
    r"良し|よし|大丈夫|だいじょうぶ|"
    r"構|かま|ok|オッケー|オーケー|平気|問題な|気にし|可|結構|我慢|許|行きた|食べた|あり)"
)
EVEN_SO = re.compile(
    r"[가-힣]{0,3}(?:[어아여려워해러라져커싸서와대빠세매짜써]도|더라도|(?: [가-힣]{1,4})?라도)"
    r"(?=[ ,])|[くてっ]{0,3}[てで]も(?!な)"
)
DENIES = re.compile(r"않|안 ?[기줄서]|な[くしい]|ず|없")
# It softens what is said behind it, never what was said before.
WISH = (
    r"\b(?:it|that)(?: would|'d) be (?:really |very |so )?(?:nice|great|good|lovely|ideal|perfect|"
    r"cool|a (?:nice )?(?:plus|bonus))(?: (?:to|if)\b)"
)
FORWARD = re.compile(rf"{WISH}|(?:ideally|preferably|hopefully)(?= [a-z])")
HEDGE = re.compile(
    r"\b(?:if possible|preferably|ideally|hopefully|if you can|if available|if at all possible|"
    r"where possible|if there is one|if there's one)\b|" + WISH + r"|"
    r"되도록|가급적|가능하[면다]|가능한 ?한|이왕이면|기왕이면|이왕|기왕|웬만하면|왠만하면|웬만함|"
    r"될 ?수 ?있[으는]|될수록|할 수 있다면|"
    r"で?出?来?きれば|できれば|出来れば|できたら|出来たら|なるべく|可能(?:なら|であれば|な限り|"
    r"な範囲)|できるだけ|出来るだけ|"
    r"できるなら|せっかくなら|どうせなら|欲を言え|よければ|よかったら|もしあれば"
)
HEDGE_AFTER = re.compile(
    r"\b(?:would be (?:nice|a plus|a bonus|a nice bonus|a nice touch)(?! (?:if|to)\b)|"
    r"(?:is|are) (?:a plus|a bonus|optional|preferred|"
    r"nice to have)|(?<!it would be )(?<!it'd be )nice to have|(?<!be )a plus|"
    r"(?<!be )a bonus|preferred|but not (?:necessary|essential|required|"
    r"a must|crucial)|optional|not a must|not a deal ?breaker)\b|"
    r"면 더 ?(?:욱 )?(?:좋|바랄|감사)|면 더욱|면 금상첨화|면 더할|면 좋[고구]|면 땡큐|면 베스트|"
    r"(?:なお|さらに|より一層|もっと)(?:良|よ|い|嬉|うれ|あり|可)|尚可|に越したことはな|ベター|"
    r"あればいい|あれば嬉|"
    r"あればうれ"
)
LUXURY = re.compile(
    r"fanc|upscale|classy|elegan|luxur|stylish|trendy|고급|세련|화려|멋|おしゃれ|オシャレ|お洒落|高級|上品"
)
FIRST_BEFORE = re.compile(
    r"(?<!no )(?<!nothing )\b(?:(?:rather|more) than|(?<=more about )(?:[a-z ]{1,20} )than|"
    r"(?<=more )(?:[a-z ]{1,20} )than|instead of|over)(?: about| for| on)?(?: the| a| its)?\b"
)
FIRST_BEHIND = re.compile(r"\bless [a-z ]{1,24} than\b|보단|보다는?|より[はも]?")
BESIDE = 16
AVOIDED = re.compile(
    r"[^.!?。]{0,10}?(?:말고|싫|빼고|제외|안 ?[되돼됩]|곤란|부담|피하|피해|무리|힘들|以外|嫌|"
    r"避け|無理|ng|困|ダメ|だめ|苦手|厳し|除|やめ)"
)
TOO_MUCH = re.compile(
    r"over ?priced|rip|exorbitant|outrageous|not worth|too|바가지|부담|사악|아까|창렬|너무|"
    r"가성비|ぼった|ボッタ|割高|すぎ|過ぎ|コスパ"
)
