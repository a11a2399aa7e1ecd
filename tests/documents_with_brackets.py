"""English, Korean, and Japanese documents full of brackets."""

from dataclasses import dataclass
from itertools import cycle

BRACKETS = [
    " [42]", " [1]", " [2, 3]", " [1-3]", "[^7]", " `rows[12]`", ' `config["key"][1]`', " m[1][2]",
    " [the report](https://wiki.example/a[1].html)", " [3](#reference-3)", " [[5]](#cite-5)",
    "［４２］", "【1】", "【2†source】", " \\[6\\]", ' [1: "as in [2]"]', " ⟦4⟧", " 〖注〗",
    " [see 9]", " [150]", " [1, 42] and [3]",
]  # fmt: skip
_NAMES = [
    "Aldora", "Bexley", "Corvina", "Dunmore", "Elgarth", "Fenwick", "Galdera", "Hartholm",
    "Ilmenau", "Jolanta", "Kestrel", "Lorvane", "Morwenna", "Nordhavn", "Ostrava", "Pendrell",
    "Quillon", "Rosmere", "Silvane", "Tarnwood", "Ulverton",
]  # fmt: skip
_WORDINGS = [
    (
        "Project {name} uses the careful method{one} and stores 25 samples{two} in March.",
        "Which method does project {name} use?",
    ),
    (
        "{name} 프로젝트는 신중한 방법{one}을 사용하며 결과는 부록{two}에 있습니다.",
        "{name} 프로젝트는 어떤 방법을 사용합니까?",
    ),
    (
        "{name}計画は慎重な手法{one}を使い、結果は付録{two}にあります。",
        "{name}計画はどの手法を使いますか。",
    ),
]


@dataclass(frozen=True)
class BracketDocument:
    """A document of one sentence, and a question that it answers."""

    name: str
    sentence: str
    question: str

    @property
    def text(self) -> str:
        return f"# {self.name} [7]\n\n{self.sentence}\n\n[^7]: Written in 2020 [8].\n"


def bracket_documents() -> list[BracketDocument]:
    """A document for each form of bracket, combined with another form."""
    others = [*BRACKETS[5:], *BRACKETS[:5]]
    forms = zip(_NAMES, BRACKETS, others, strict=True)
    return [
        BracketDocument(
            name, sentence.format(name=name, one=one, two=two), question.format(name=name)
        )
        for (name, one, two), (sentence, question) in zip(forms, cycle(_WORDINGS), strict=False)
    ]
