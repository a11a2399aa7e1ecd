import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.formats import read_document
from tests.linear_time import require_linear_time
from tests.loaders.formats.files import html_page


def markdown(body: str, **head: str) -> str:
    return read_document("a.html", html_page(body, **head)).page_content


def test_headings_paragraphs_and_lists_keep_their_structure():
    assert markdown(
        "<h1>Leave</h1><p>Fifteen\n days.</p><h3>Kinds</h3>"
        "<ul><li>paid<ul><li>annual</li></ul></li><li>unpaid</li></ul>"
        "<ol start=3><li>ask</li><li>wait</li></ol>"
    ) == (
        "# Leave\n\nFifteen days.\n\n### Kinds\n\n- paid\n  - annual\n- unpaid\n\n3. ask\n4. wait"
    )


def test_navigation_scripts_controls_and_hidden_elements_are_omitted():
    text = markdown(
        "<nav>menu</nav><script>js()</script><style>p{}</style><p>Text</p><noscript>on</noscript>"
        "<div role=navigation>trail</div><p hidden>h</p><p style='display: none'>n</p>"
        "<!-- comment --><svg><text>drawn</text></svg><button>Go</button><select><option>x</select>"
    )
    assert text == "Text"


def test_inline_markup_is_removed_and_text_not_escaped():
    text = markdown("<p>Get <b>15 days</b> of <a href='http://x/y'>paid_leave</a> * <i>now</i></p>")
    assert text == "Get 15 days of paid_leave * now"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("10<sup>6</sup> cells on 40 m<sup>2</sup>", "10^6 cells on 40 m2"),
        ("25<sup>1</sup> days by the 5<sup>th</sup>", "25^1 days by the 5th"),
        ("<b>10</b><!-- six --><span><sup>6</sup></span> cells", "10^6 cells"),
        ("<table><caption>10<sup>3</sup> won<tr><td>5<td><sup>1</sup>",
         "10^3 won\n\n| 5 | 1 |\n| --- | --- |"),
        ("<sup>1</sup>25 days", "1 25 days"),
        ("5<p><sup>1</sup> days", "5\n\n1 days"),
    ],
)  # fmt: skip
def test_superscripts_do_not_change_numbers(page, expected):
    assert markdown(page) == expected


@pytest.mark.parametrize(
    "mark",
    [
        "<sup><a href='#fn1'>1</a></sup>",
        "<sup><a href='#cite_note-1'><span>[</span>1<span>]</span></a></sup>",
        "<a href='#fn1'><sup>1</sup></a>",
    ],
)
def test_footnote_marks_that_are_links_are_omitted(mark):
    assert markdown(f"<p>New staff get 25{mark} days{mark}.</p>") == "New staff get 25 days."


def test_superscripts_with_other_links_are_kept():
    page = "<a href='#area'>40 m<sup>2</sup></a>, 10<sup><a href='http://x/y'>6</a></sup> cells"
    assert markdown(page) == "40 m2, 10^6 cells"


def test_code_blocks_keep_their_lines_and_language():
    text = markdown("<pre><code class='language-python'>if x:\n    y  = 1\n\n\nz</code></pre>")
    assert text == "```python\nif x:\n    y  = 1\n\n\nz\n```"
    inner = markdown("<ul><li>run<pre>a  b\n\nc</pre></li></ul>")
    assert inner == "- run\n\n  ```\n  a  b\n  \n  c\n  ```"
    assert markdown("<pre>a ``` b</pre>") == "````\na ``` b\n````"
    confluence = "<pre data-syntaxhighlighter-params='brush: bash; gutter: false'>ls</pre>"
    assert markdown(confluence) == "```bash\nls\n```"


def test_a_table_becomes_a_pipe_table():
    text = markdown(
        "<table><caption>Days</caption><thead><tr><th>Kind</th><th>Days</th></tr></thead>"
        "<tbody><tr><td>Paid|full</td><td>15<br>a year</td></tr></tbody></table>"
    )
    assert text == "Days\n\n| Kind | Days |\n| --- | --- |\n| Paid\\|full | 15 a year |"


def test_cells_that_span_rows_are_repeated_in_their_columns():
    text = markdown(
        "<table><tr><th>Who<th colspan=2>Days<tr><td rowspan=2>Staff<td>2025<td>14"
        "<tr><td>2026<td>15</table>"
    )
    assert text == (
        "| Who | Days |  |\n| --- | --- | --- |\n| Staff | 2025 | 14 |\n| Staff | 2026 | 15 |"
    )


def test_layout_tables_become_paragraphs():
    text = markdown(
        "<table><tr><td><h2>Left</h2><p>one</p></td></tr></table>"
        "<table><tr><td>menu</td><td><table><tr><td>a<td>b<tr><td>c<td>d</table></td></tr></table>"
    )
    assert text == "## Left\n\none\n\nmenu\n\n| a | b |\n| --- | --- |\n| c | d |"


def test_unclosed_tags_are_closed_as_in_browsers():
    assert markdown("<p>a<p>b<ul><li>x<li>y</ul>") == "a\n\nb\n\n- x\n- y"


def test_only_japanese_source_lines_are_joined_without_a_space():
    assert markdown("<p>有給休暇は\n毎年付与\n  される。and\nso on</p>") == (
        "有給休暇は毎年付与される。and so on"
    )


def test_the_title_becomes_a_heading_if_the_page_has_none():
    document = read_document("a.html", html_page("<p>x</p>", head="<title>My\n page</title>"))
    assert document.metadata["title"] == "My page"
    assert document.page_content == "# My page\n\nx"
    assert markdown("<h1>Own</h1>x", head="<title>T</title>") == "# Own\n\nx"


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("cp949", "<meta http-equiv=Content-Type content='text/html; charset=euc-kr'>"),
        ("cp949", "<meta charset=iso-8859-1>"),
        ("utf-8", "<meta charset=euc-kr>"),
        ("cp949", ""),
        ("utf-16", "<meta charset=utf-16>"),
        ("utf-16-le", ""),
    ],
)
def test_the_encoding_is_detected_even_if_the_declared_one_is_wrong(encoding, head):
    sentence = "요청하신 페이지를 찾을 수 없습니다."
    assert markdown(f"<p>{sentence}</p>", head=head, encoding=encoding) == sentence


def test_too_deeply_nested_tags_become_plain_text_with_a_warning():
    document = read_document("a.html", html_page("<div>" * 5000 + "the text"))
    assert document.page_content == "the text"
    assert "nested too deeply" in document.metadata["warnings"][0]
    assert "deep" in markdown("<table><tr><td>" * 2000 + "deep")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["<p>para ", "<li>item", "<tr><td>a<td>b", "<h2>h</h2>", "<b>b</b> ", "<br>", "1<sup>2</sup>"],
)
def test_pages_are_converted_in_linear_time(part):
    opening = "<table>" if "<tr>" in part else "<ol>"
    require_linear_time(lambda count: markdown(opening + part * count + "x"), 8000)


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="<&"))))
def test_every_word_of_a_page_is_in_its_text_in_order(words):
    text = markdown("".join(f"<p>{word}</p>" for word in ["start", *words]))
    assert text.split() == ["start", *[word for word in words if word]]
