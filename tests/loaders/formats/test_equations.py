import pytest
from bs4 import BeautifulSoup
from lxml import etree

from loaders.formats import read_document
from loaders.formats.equations import M, office_equation, web_equation


def run(text):
    return f"<m:r><m:t>{text}</m:t></m:r>"


def part(name, *parts):
    return f"<m:{name}>{''.join(parts)}</m:{name}>"


def power(base, above):
    return part("sSup", part("e", run(base)), part("sup", run(above)))


SQUARE = part("sup", run("2"))
SUM_SIGN = '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
BRACKETS = '<m:dPr><m:begChr m:val="["/><m:sepChr m:val=","/><m:endChr m:val="]"/></m:dPr>'


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        (run("a+b=c"), "a+b=c"),
        (part("f", part("num", run("1")), part("den", run("12"))), "1/12"),
        (part("f", part("num", run("a+b")), part("den", run("2a"))), "(a+b)/2a"),
        (part("f", part("num", run("매출")), part("den", run("비용"))), "매출/비용"),
        (power("10", "6"), "10^6"),
        (power("10", "-6") + run("m"), "10^(-6) m"),
        (part("sSub", part("e", run("x")), part("sub", run("i"))), "x_i"),
        (
            part("sSubSup", part("e", run("x")), part("sub", run("i")), part("sup", run("2"))),
            "x_i^2",
        ),
        (part("rad", part("deg"), part("e", power("b", "2"), run("-4ac"))), "√(b^2-4ac)"),
        (part("rad", part("deg", run("3")), part("e", run("x"))), "∛(x)"),
        (part("rad", part("deg", run("n")), part("e", run("x"))), "√(n&x)"),
        (
            part(
                "nary",
                SUM_SIGN,
                part("sub", run("i=1")),
                part("sup", run("n")),
                part("e", run("i")),
            ),
            "∑_(i=1)^n i",
        ),
        (part("nary", part("sub"), part("sup"), part("e", part("d", part("e", run("x"))))), "∫(x)"),
        (part("func", part("fName", run("sin")), part("e", run("x"))), "sin x"),
        (part("limLow", part("e", run("lim")), part("lim", run("x→0"))), "lim_(x→0)"),
        (part("limUpp", part("e", run("x")), part("lim", run("def"))), "x^def"),
        (part("d", BRACKETS, part("e", run("0")), part("e", run("1"))), "[0,1]"),
        (
            part(
                "m",
                part("mr", part("e", run("1")), part("e", run("2"))),
                part("mr", part("e", run("3")), part("e", run("4"))),
            ),
            "1, 2; 3, 4",
        ),
        (part("eqArr", part("e", run("&amp;x=1")), part("e", run("&amp;y=2"))), "x=1; y=2"),
        (part("acc", part("e", run("x"))), "x"),
        (part("f"), "/"),
    ],
)
def test_an_office_equation_is_written_in_one_line(equation, expected):
    root = etree.fromstring(f'<m:oMath xmlns:m="{M[1:-1]}">{equation}</m:oMath>')
    assert office_equation(root) == expected


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc^2"),
        ("<mfrac><mn>1</mn><mn>12</mn></mfrac><mi>x</mi>", "1/12 x"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>", "x_(i+1)"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", "∑_i^n i"),
        ("<munder><mo>lim</mo><mi>n</mi></munder>", "lim_n"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x^¯"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛(x)"),
        ("<mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced>", "f(x, y)"),
        ("<mi>f</mi><mo>&#x2061;</mo><mi>x</mi>", "fx"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "1, 2"),
        ("<mmultiscripts><mi>C</mi><mn>6</mn><mn>12</mn></mmultiscripts>", "C 6 12"),
        (
            "<semantics><mfrac><mn>1</mn><mn>2</mn></mfrac>"
            "<annotation encoding='application/x-tex'>\\frac12</annotation></semantics>",
            "1/2",
        ),
        ("<mfrac><mn>1</mn></mfrac>", "1"),
        ("x = 2", "x = 2"),
    ],
)
def test_a_web_equation_is_written_in_one_line(equation, expected):
    assert web_equation(BeautifulSoup(f"<math>{equation}</math>", "lxml").math) == expected


HALF = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
DRAWN = '<span class="katex-html" aria-hidden="true"><span>1</span><span>2</span></span>'


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"<p>Take <math>{HALF}</math> of it.", "Take 1/2 of it."),
        (f"<p>Take</p><math display='block'>{HALF}</math><p>of it.", "Take\n\n1/2\n\nof it."),
        (f"<h2>About <math display='block'>{HALF}</math></h2>", "## About 1/2"),
        (f"<p><span class='katex'><math>{HALF}</math>{DRAWN}</span> of it.", "1/2 of it."),
    ],
)
def test_an_equation_is_part_of_the_page(page, expected):
    assert read_document("a.html", page.encode()).page_content == expected
