import pytest
from lxml import etree

from loaders.formats.equations import join_equations
from loaders.formats.office_equations import M, office_equation

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def run(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name, *parts):
    return f"<m:{name}>{''.join(parts)}</m:{name}>"


def power(base, above):
    return part("sSup", part("e", run(base)), part("sup", run(above)))


def fraction(numerator, denominator, kind="bar"):
    properties = part("fPr", f'<m:type m:val="{kind}"/>')
    return part("f", properties, part("num", run(numerator)), part("den", run(denominator)))


def text_of(equation, name="oMath"):
    root = etree.fromstring(f'<m:{name} xmlns:m="{M[1:-1]}" xmlns:w="{W}">{equation}</m:{name}>')
    return join_equations(office_equation(root))


ONE = part("e", run("1"))
SQUARE = part("sup", run("2"))
SUM_SIGN = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
BRACKETS = '<m:dPr><m:begChr m:val="["/><m:sepChr m:val=","/><m:endChr m:val="]"/></m:dPr>'
ABOVE = '<m:barPr><m:pos m:val="top"/></m:barPr>'
FIFTH_ROOT = part("rad", part("deg", run("5")), part("e", run("32")))


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (run("a+b=c"), "a+b=c"),
        (fraction("1", "12"), "1/12"),
        (fraction("a+b", "2a"), "(a+b)/2a"),
        (fraction("매출", "비용"), "매출/비용"),
        (fraction("5", "2", "noBar"), "5¦2"),
        (power("10", "6"), "10^6"),
        (part("sSub", part("e", run("x")), part("sub", run("i"))), "x_i"),
        (part("sSub", part("e", run("x")), part("sub", run("i_j"))), "x_(i_j)"),
        (part("sSubSup", part("e", run("x")), part("sub", run("i")), SQUARE), "x_i^2"),
        (part("sPre", part("sub", run("1")), SQUARE, part("e", run("H"))), "_1^2 H"),
        (part("rad", part("deg"), part("e", power("b", "2"), run("-4ac"))), "√(b^2-4ac)"),
        (part("rad", part("deg", run("3")), part("e", run("x"))), "∛(x)"),
        (FIFTH_ROOT, "√(5&32)"),
        (part("nary", SUM_SIGN, part("sub", run("i=1")), SQUARE, part("e", run("i"))),
         "∑_(i=1)^2 i"),
        (part("nary", part("sub"), part("sup"), part("e", run("x"))), "∫ x"),
        (part("nary", SUM_SIGN, part("sub"), part("sup"), part("e")), "∑"),
        (part("func", part("fName", run("sin")), part("e", run("x"))), "sin x"),
        (part("func", part("fName", run("sin")), part("e", fraction("a+b", "2"))), "sin((a+b)/2)"),
        (part("limLow", part("e", run("lim")), part("lim", run("x→0"))), "lim_(x→0)"),
        (part("limUpp", part("e", run("x")), part("lim", run("def"))), "x^def"),
        (part("d", BRACKETS, part("e", run("0")), part("e", run("1"))), "[0,1]"),
        (part("d", part("e", run("x"))), "(x)"),
        (part("m", part("mr", ONE, ONE), part("mr", ONE)), "1, 1; 1"),
        (part("eqArr", part("e", run("&amp;x="), FIFTH_ROOT), part("e", run("&amp;y"))),
         "x=√(5&32); y"),
        (part("acc", part("e", run("x"))), "x\u0302"),
        (part("bar", ABOVE, part("e", run("0.3"))), "0.3\u0305"),
        (part("bar", part("e", run("x"))), "x\u0332"),
        (part("eqArr", part("e", run("E=m#(1)"))), "E=m (1)"),
        (part("phant", part("phantPr", '<m:show m:val="0"/>'), ONE) + run("5"), "5"),
        (part("phant", ONE), "1"),
        (power("20", "∘"), "20°"),
        (power("x", "π") + run("π"), "x^π π"),
        (power("𝑥", "2") + run("𝑦"), "𝑥^2 𝑦"),
        (part("f"), "/"),
    ],
)  # fmt: skip
def test_an_equation_is_written_in_one_line(equation, expected):
    assert text_of(equation) == expected


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (run("1") + run("0") + run(".5"), "10.5"),
        (run("1") + fraction("1", "2"), "1 1/2"),
        (power("10", "6") + run("5"), "10^6 5"),
        (run("2") + power("x", "2") + run("y"), "2x^2 y"),
        (power("10", "-6") + run("m"), "10^(-6) m"),
        (fraction("1", "2") + part("d", part("e", run("x"))), "1/2 (x)"),
        (run("2") + part("func", part("fName", run("log")), part("e", run("2"))) + run("x"),
         "2 log 2 x"),
    ],
)  # fmt: skip
def test_neighboring_numbers_and_names_stay_separate(equation, expected):
    assert text_of(equation) == expected


def test_tracked_deletions_are_omitted():
    assert text_of(f"{run('x=')}<w:del>{run('5')}</w:del><w:ins>{run('7')}</w:ins>") == "x=7"


def test_the_lines_of_a_paragraph_are_separate():
    lines = (
        part("oMath", run("x=1"), "<m:r><w:br/></m:r>"),
        part("oMath", run("2y=3")),
        part("oMath"),
    )
    assert text_of("".join(lines), "oMathPara") == "x=1; 2y=3"
