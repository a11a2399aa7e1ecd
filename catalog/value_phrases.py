"""The phrases around values that say whether they are asked for."""

import re

NOT_THIS = re.compile(
    r"(?:(?<!why )\b(?:not|no|non|never|except(?: for)?|excluding|exclude|other than|instead of|"
    r"(?:any|every)(?:thing|where| place| restaurant) but|all but|nothing(?: with)?(?! like)|"
    r"none of(?: those| these)?|rather than|apart from|aside from|besides|without|avoid|avoiding|"
    r"skip|hate|dislike|sick of|tired of|fed up with|(?<!get )enough of|done with|"
    r"outside|neither|leave out|leaving out|bored of|minus)\b|"
    r"n't)"
    r"(?:[ -](?:in|at|an?|the|any|more|another|to|go|going|want|wanting|like|for|be|eat|eating|of|"
    r"have|having|anywhere|anything|something|looking|feel|feeling|fan|into|near|from|places?))"
    r"{0,5}[ -]?$"
)
NOT_THIS_AFTER = re.compile(
    r"(?: (?:food|places?|restaurants?|cuisine))?,? (?:is |are )?"
    r"(?:excluded|out of the question|not an option|is out\b|are out\b|yesterday|last night|"
    r"the other day|all week)|"
    r"바? ?(?:(?:음식점|식당|레스토랑|요리|음식|집|쪽|지역|에서|에|은|는|도|이|가|만|으로|로|랑|것|"
    r"거|류|같은|데|곳|이제|요즘|너무|진짜|절대|좀|맨날|매일) ?){0,4}"
    r"(?:어제|그제|지겨|지겹|그만|말고|말구|마시고|빼고|빼구|빼|제외|이외|외에|외의|"
    r"없는 (?:곳|데|집|식당|음식점|레스토랑|가게)|없이(?!는? ?못)|"
    r"(?:(?<=[은는])|(?<=[은는] ))됐[고어다습]|"
    r"외로|아닌|아니|싫|질[렸려]|안 ?(?:가|갈|먹|되|돼|땡|좋아)|"
    r"못 ?(?:먹|가)|피하|피해|대신|별로(?! ?안(?! ?(?:좋아|땡|먹|가고)))|사절|금지|물[렸려려])|"
    r"(?:バー)?(?:料理|レストラン|店|屋|さん|系|エリア|方面|地区|みたいな|ような|の|は|も|が|に|を|で|へ|だけ|もう|そろそろ|"
    r"さすがに|正直|最近|食べ|,|、){0,5}"
    r"(?:以外|じゃな|ではな|じゃ無|でな[いくけ]|除[いくき]|除外|抜き|なし|無し|嫌|いや|イヤ|避け|"
    r"やめ|ng|苦手|"
    r"だめ|ダメ|駄目|飽き|うんざり|昨日|先日|(?<=もう)(?:いい|結構|十分)|(?<=は)結構です|"
    r"(?<=は)食べ(?:られ)?(?:ない|ません)(?![とか?])|パス|いらな|行きたくな|食べたくな|不可|勘弁|外し|代わり)"
)
# What need not be is not asked for, but is welcome.
NEED_NOT = re.compile(
    r"(?:n't|\bnot) have to(?: (?:be|eat|go|have|for|to|in|at|an?|the|any)){0,5} $"
)
NEED_NOT_AFTER = re.compile(
    r"바? ?(?:(?:음식점|식당|레스토랑|요리|음식|집|쪽|은|는|이|가|것|거|류|같은|데|곳|꼭|굳이) ?)"
    r"{0,4}"
    r"(?:아니(?:어|여|더라|라)도|말고도|이?외에도|안 ?(?:가|먹어)도)|"
    r"(?:バー)?(?:料理|レストラン|店|屋|さん|系|みたいな|ような|の|は|が|に|を){0,3}(?:(?:じゃ|では?)な(?:く|くて)も|以外でも)"
)
NOT_MEANT_AFTER = re.compile(
    r"[ -](?:speaking|language|reviews?|reviewers?)\b|어(?:로|를|가| ?메뉴)|"
    r"인(?:들|이 많| ?리뷰| ?후기| ?평| ?손님| ?친구| ?입맛|"
    r" ?직원)| ?사람| 분들|[語人]"
)
PEOPLE = (
    "people|persons?|reviewers?|reviewed|reviews?|customers?|diners?|guests?|visitors?|critics?|"
    "folks?|friends?|crowds?|community|tourists?|opinions?|ratings?|eaters?|foodies"
)
# Where somebody stays or comes from, as against where they want to go.
HOME_BEFORE = re.compile(
    r"\b(?:stay|stays|staying|live|lives|living|based|lodging|lodged|hotel|airbnb|hostel|apartment|"
    r"home|office|work|working|come|comes|coming|came|arriving|travelling|traveling|from)"
    r"(?: (?:is|are|at|in|over|a|an|the|our|my|hotel|airbnb|from|near|up|all|down|out|of)){0,5} $|"
    r"(?:숙소|호텔|집|회사|직장|사는 곳|에어비앤비)[는은이가]? ?$|"
    r"(?:ホテル|宿|自宅|家|職場|会社|宿泊先|滞在先)[はがも]?$"
)
HOME_AFTER = re.compile(
    r"(?:에서|에)? ?(?:묵|머무|머물|사는|살고|살아|투숙|거주|출발|근무|일하|있는 (?:호텔|숙소|집)|"
    r"(?:호텔|숙소|에어비앤비)(?:에|인|이|라))|"
    r"(?:に|で|の)?(?:泊ま|宿泊|滞在|住ん|住ま|在住|暮らし|勤め|勤務|ホテルに|宿に|から(?:行|来|向))"
)
ALSO_DENIED = re.compile(
    r"(?: (?:food|places?|restaurants?))?,? (?:(?:or|nor|and) (?:in |the |any )?|(?:or|nor) an? )"
)
DENIED_WITH = re.compile(
    r" ?(?:이?나|이?랑|하고|[와과]|및|,|도|이?든) ?|[ ,、]*(?:や|と|とか|も|か|・|、|および|"
    r"または) ?"
)
