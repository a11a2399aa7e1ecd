import pytest

from loaders.formats import read_document


def read(page):
    return read_document("a.html", page.encode()).page_content


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("<mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup>", "E=mc^2"),
        ("<mfrac><mn>1</mn><mn>12</mn></mfrac><mi>x</mi>", "1/12 x"),
        ("<mfrac linethickness='0pt'><mn>5</mn><mn>2</mn></mfrac>", "5¦2"),
        ("<mfrac linethickness='.5px'><mn>5</mn><mn>2</mn></mfrac>", "5/2"),
        ("<msub><mi>x</mi><mrow><mi>i</mi><mo>+</mo><mn>1</mn></mrow></msub>", "x_(i+1)"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", "∑_i^n i"),
        ("<munder><mo>lim</mo><mi>n</mi></munder>", "lim_n"),
        ("<mover><mi>x</mi><mo>¯</mo></mover>", "x\u0305"),
        ("<mover><mi>x</mi><mi>def</mi></mover>", "x^def"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "√(x+1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "∛(x)"),
        ("<mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced>", "f(x, y)"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "1, 2"),
        ("<mi>P</mi><mfenced separators='|'><mi>A</mi><mi>B</mi></mfenced>", "P(A|B)"),
        ("<mfenced open='[' close=']' separators=''><mn>1</mn><mn>2</mn></mfenced>", "[12]"),
        ("<mfenced separators=';,'><mi>a</mi><mi>b</mi><mi>c</mi><mi>d</mi></mfenced>",
         "(a; b, c, d)"),
        ("<mmultiscripts><mi>C</mi><mn>6</mn><mn>2</mn></mmultiscripts>", "C_6^2"),
        ("<mmultiscripts><mi>C</mi><none/><mn>2</mn><mprescripts/><mn>6</mn><mn>14</mn>"
         "</mmultiscripts>", "_6^14 C^2"),
        ("<mmultiscripts>C<mn>6</mn></mmultiscripts>", "C 6"),
        ("<mphantom><mn>1</mn></mphantom><mn>5</mn>", "5"),
        ("<msup><mn>20</mn><mo>∘</mo></msup>", "20°"),
        ("<msup><mi>f</mi><mo>′</mo></msup><mo>(</mo><mi>x</mi><mo>)</mo>", "f′ (x)"),
        ("<maction actiontype='toggle'><mn>1</mn><mn>2</mn></maction>", "1"),
        ("<semantics><mn>1</mn><annotation>one</annotation></semantics>", "1"),
        ("<mfrac><mn>1</mn></mfrac>", "1"),
        ("<mtext>at most <b>5</b> days</mtext>", "at most 5 days"),
        ("x = <mn>2</mn>", "x = 2"),
    ],
)  # fmt: skip
def test_an_equation_is_written_in_one_line(equation, expected):
    assert read(f"<math>{equation}</math>") == expected


@pytest.mark.parametrize(
    ("equation", "expected"),
    [
        ("<mn>1</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "1 1/2"),
        ("<mn>2</mn><mo>&#x2064;</mo><mfrac><mn>3</mn><mn>4</mn></mfrac>", "2 3/4"),
        ("<mn>5</mn><mo>&#x2062;</mo><msup><mn>10</mn><mn>6</mn></msup>", "5 10^6"),
        ("<mn>10</mn><msup><mrow/><mn>6</mn></msup><mn>5</mn>", "10^6 5"),
        ("<mn>1</mn><mspace/><mn>2</mn>", "1 2"),
        ("<mn>2</mn><mi>log</mi><mn>2</mn>", "2 log 2"),
        ("<mi>sin</mi><mo>&#x2061;</mo><mi>x</mi>", "sin x"),
        ("<mi>f</mi><mo>&#x2061;</mo><mi>x</mi>", "fx"),
        ("<mi>x</mi><mtext>&nbsp;if&nbsp;</mtext><mi>y</mi>", "x if y"),
    ],
)
def test_neighboring_numbers_and_names_stay_separate(equation, expected):
    assert read(f"<math>{equation}</math>") == expected


HALF = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
DRAWN = "<span class='katex-html'>12</span>"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (f"<p>Take <math>{HALF}</math> of it.", "Take 1/2 of it."),
        (f"<p>1<math>{HALF}</math>5 hours", "1 1/2 5 hours"),
        ("<p><math><mn>10</mn></math><sup>6</sup> cells", "10^6 cells"),
        (f"<p>Take</p><math display='block'>{HALF}</math><p>of it.", "Take\n\n1/2\n\nof it."),
        (f"<h2>About <math display='block'>{HALF}</math></h2>", "## About 1/2"),
        (f"<table><tr><td>a<td><math>{HALF}</math></table>", "| a | 1/2 |\n| --- | --- |"),
        ("<p>10<math><msup><mrow/><mn>6</mn></msup></math> cells", "10^6 cells"),
        (f"<p><span class='katex'><math>{HALF}</math>{DRAWN}</span> of it.", "1/2 of it."),
        (f"<p><span class='katex-mathml'><math>{HALF}</math></span>{DRAWN} of it.", "1/2 of it."),
        (f"<p>{DRAWN} and <math>{HALF}</math>", "12 and 1/2"),
        (f"<p><span style='display: none'><math>{HALF}</math></span>"
         "<img class='mwe-math-fallback-image-inline' alt='1 over 2'> of it.", "1/2 of it."),
        ("<p><img class='mwe-math-fallback-image-inline' alt='1/2'> of it.", "1/2 of it."),
        ("<app-math><h2>Head</h2><p>One.</p></app-math>", "## Head\n\nOne."),
        (f"<p><span class='katex'>{DRAWN}</span> of it.", "12 of it."),
        ("<p><m:math><m:mfrac><m:mn>1</m:mn><m:mn>12</m:mn></m:mfrac></m:math>", "1/12"),
    ],
)  # fmt: skip
def test_an_equation_is_part_of_the_page(page, expected):
    assert read(page) == expected
