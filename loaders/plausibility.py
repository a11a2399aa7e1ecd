"""How much a decoded text looks like writing: the judge between candidate encodings.

A strict decoder alone can't tell EUC-KR from EUC-JP or GB 2312: they share their byte ranges.
What differs is which letters come out, so a candidate is scored by how common its letters are.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice

_SAMPLE = 4000  # letters looked at: plenty to decide, and a 50 MB file costs no more than a page
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_NON_ASCII_RUN = re.compile(r"[^\x00-\x7f]+")
_SWAPPED = re.compile(r"[а-яё][А-ЯЁ]")
_MIXED = re.compile(r"[A-Za-z][Ѐ-џ]|[Ѐ-џ][A-Za-z]")

# The most frequent letters of running text, by which real writing is told from accidents.
_HANGUL = (
    "이의에는다을가은하로한고지대서사기인를시년으정어도스리일아해나라자전국수부과했제장들주상있원선그었위게보되"
    "무적와월트명성여만당공중조영화회동구마것유드후신소우비였며경세미민문진계연개방통관법치된면오단모르학발교러용재"
    "김내터군안거타임데등행반본던파작노역실천디히니크할간루음포표건결차바요두황프체강출현엇태함생받야산최분때물금호언"
    "입식직령권레운름번박려력카설불각토았초업종남람록판키형평격속않말까삼총습녕세요님께올저희"
)
_KANJI = (
    "年国日本大党地人的共一会合月行法中者産力上定生事部学業関政主用民時家発対成立語和動代分後同連子世化方建員"
    "出市自社西戦多第制通下入帝以体権間性場在位教現物表内水経実機築前名基最史数原州持設歴記要開議東選当全度公長"
    "活海県労高道電期雨理武結平働気南域組際保所応軍北支明作置務目言命都外文区呼義有薬手続新認特起団約条受治指査"
    "派半正師加検見油領規石府島王初説挙点回次球進反山式来争統果任問皇職近天独利存住界何今書思食使知"
)
_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道"
    "行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无"
    "力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等"
    "产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几"
)
_TRADITIONAL = (
    "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道"
    "行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無"
    "力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等"
    "產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾"
)
_WESTERN = "¿¡éèêàâçùüöäßñóíáúôîïëæøåãœþðýÉÀÖÜÄÅØÇÑÓÍÁÚÊÞ"
_HUNGARIAN = "õû"  # are ő and ű in Windows-1250: they speak for neither
_CENTRAL = "áéíóúýöüőűąćęłńśźżčďěňřšťůžôäâîăşţÁÉÍÓÖÜŐŰŁŚŻČŘŠŽ"
_TYPOGRAPHY = "ªº“”‘’–—…•·©®™€£«»°§\xa0"
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїє"

_COMMON, _KNOWN, _RARE, _ALIEN = 1.0, 0.3, -0.5, -1.0
Score = Callable[[str], float]
"""Rates a text from about -1 (accident) to 1 (plain writing); ASCII letters don't count."""


def _rows(encoding: str, first: int, last: int) -> str:
    """The letters of a range of lead bytes of a two-byte encoding."""
    pairs = (bytes((a, b)) for a in range(first, last + 1) for b in range(0x40, 0xFF))
    return "".join(pair.decode(encoding, "ignore") for pair in pairs)


def _weights(**levels: float) -> Mapping[str, float]:
    neutral = {chr(c): 0.0 for r in ((0x2010, 0x2070), (0x3000, 0x3040)) for c in range(*r)}
    full_width = {chr(c): 0.0 for c in range(0xFF01, 0xFF5F)}
    weights = {**neutral, **full_width, **dict.fromkeys("·×÷°§¶±①②③④⑤⑥⑦⑧⑨→←↑↓○●◎◇◆□■△▲▽▼☆★※", 0.0)}
    for letters, weight in levels.items():
        weights.update(dict.fromkeys(letters, weight))
    return weights


@cache
def _korean() -> Mapping[str, float]:
    syllables, hanja = _rows("euc_kr", 0xB0, 0xC8), _rows("euc_kr", 0xCA, 0xFD)
    return _weights(**{hanja: -0.2, syllables: _KNOWN, _HANGUL: _COMMON})


@cache
def _japanese() -> Mapping[str, float]:
    level_1, level_2 = _rows("euc_jp", 0xB0, 0xCF), _rows("euc_jp", 0xD0, 0xF4)
    kana = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB), 0x30FC)))
    return _weights(**{level_2: _RARE, level_1: _KNOWN, _KANJI: _COMMON, kana: _COMMON})


@cache
def _simplified() -> Mapping[str, float]:
    level_1, level_2 = _rows("gb2312", 0xB0, 0xD7), _rows("gb2312", 0xD8, 0xF7)
    return _weights(**{level_2: _RARE, level_1: 0.2, _SIMPLIFIED: _COMMON})


@cache
def _traditional() -> Mapping[str, float]:
    level_1, level_2 = _rows("big5", 0xA4, 0xC6), _rows("big5", 0xC9, 0xF9)
    return _weights(**{level_2: _RARE, level_1: 0.2, _TRADITIONAL: _COMMON})


@cache
def _cyrillic() -> Mapping[str, float]:
    weights = dict.fromkeys(_CYRILLIC + _CYRILLIC.upper(), 0.0)
    weights |= dict.fromkeys("щэфъхцющ", _RARE) | dict.fromkeys(_TYPOGRAPHY + "№", 0.0)
    return weights | dict.fromkeys("оеаинтсрвл", _COMMON)


@cache
def _anything() -> Mapping[str, float]:
    """For UTF-16 and UTF-32: every script is possible, but not every letter is likely."""
    ascii_text = "".join(map(chr, (9, 10, 13, *range(0x20, 0x7F))))
    weights = {chr(c): _ALIEN for c in range(0x20)}
    weights |= dict.fromkeys(map(chr, range(0xA0, 0x600)), 0.4)
    for table in (_traditional(), _simplified(), _japanese(), _korean()):
        weights |= {c: max(w, weights.get(c, w)) for c, w in table.items()}
    return weights | dict.fromkeys(ascii_text, _COMMON)


def _mean(letters: Iterator[str], weights: Mapping[str, float]) -> float:
    found = [weights.get(letter, _ALIEN) for letter in letters]
    return sum(found) / len(found) if found else 0.0


def _non_ascii(text: str) -> Iterator[str]:
    return (match[0] for match in islice(_NON_ASCII.finditer(text), _SAMPLE))


def korean(text: str) -> float:
    """Rate a text as Korean."""
    return _mean(_non_ascii(text), _korean())


def japanese(text: str) -> float:
    """Rate a text as Japanese."""
    return _mean(_non_ascii(text), _japanese())


def simplified_chinese(text: str) -> float:
    """Rate a text as Chinese in simplified letters, a little below Korean and Japanese."""
    return _mean(_non_ascii(text), _simplified()) - 0.1


def traditional_chinese(text: str) -> float:
    """Rate a text as Chinese in traditional letters, a little below Korean and Japanese."""
    return _mean(_non_ascii(text), _traditional()) - 0.1


def unicode_text(text: str) -> float:
    """Rate a text that may be in any script; ASCII counts here."""
    return _mean(iter(text[:_SAMPLE]), _anything())


def _latin(text: str, letters: str) -> float:
    """Accented letters stand alone among plain ones; a run of them is another script misread."""
    scores: list[float] = []
    for run in islice(_NON_ASCII_RUN.finditer(text), _SAMPLE):
        beside = text[max(0, run.start() - 1) : run.start()] + text[run.end() : run.end() + 1]
        in_word = any(letter.isalpha() for letter in beside) and len(run[0]) <= 2
        for letter in run[0]:
            if letter in _TYPOGRAPHY:
                scores.append(0.4 if len(run[0]) <= 2 else 0.0)
            elif letter not in _HUNGARIAN:
                scores.append(0.7 if in_word and letter in letters else _ALIEN)
    return sum(scores) / len(scores) if scores else 0.0


def western(text: str) -> float:
    """Rate a text as Western European."""
    return _latin(text, _WESTERN)


def central_european(text: str) -> float:
    """Rate a text as Central European, a little below Western."""
    return _latin(text, _CENTRAL) - 0.05


def cyrillic(text: str) -> float:
    """Rate a text as Cyrillic; capitals inside words, KOI8 taken for Windows-1251, tell."""
    letters = "".join(_non_ascii(text))
    misread = len(_SWAPPED.findall(letters)) + len(_MIXED.findall(text[: 10 * _SAMPLE]))
    return _mean(iter(letters), _cyrillic()) - 2 * misread / max(1, len(letters))
