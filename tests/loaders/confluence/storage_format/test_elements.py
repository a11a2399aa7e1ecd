import pytest

from loaders.confluence.storage_format import to_markdown
from loaders.confluence.storage_format.links import UNKNOWN_USER
from tests.loaders.confluence.storage_format.site import Nowhere, Site, cdata, macro, task, tasks

LEAVE = '<ri:page ri:space-key="HR" ri:content-title="Leave"/>'
SMART = "https://s.atlassian.net/wiki/spaces/DOC/pages/12/%ED%9C%B4%EA%B0%80+Guide"

LINKS = {
    "page": (f"<ac:link>{LEAVE}</ac:link>", "[Leave](https://w/HR/Leave)"),
    "page with plain words": (
        f"<ac:link>{LEAVE}<ac:plain-text-link-body>{cdata('15 < 20 days')}"
        "</ac:plain-text-link-body></ac:link>",
        "[15 < 20 days](https://w/HR/Leave)",
    ),
    "page with rich words": (
        f"<ac:link>{LEAVE}<ac:link-body>the <em>paid</em> leave</ac:link-body></ac:link>",
        "[the paid leave](https://w/HR/Leave)",
    ),
    "page with words on two lines": (
        f"<ac:link>{LEAVE}<ac:link-body>연차<br/>휴가</ac:link-body></ac:link>",
        "[연차 휴가](https://w/HR/Leave)",
    ),
    "page of this space at an anchor": (
        '<ac:link ac:anchor="Days"><ri:page ri:content-title="有給"/></ac:link>',
        "[有給](https://w/OWN/有給#Days)",
    ),
    "page with brackets in its title": (
        '<ac:link><ri:page ri:content-title="[초안] 계획 (2)"/></ac:link>',
        "[\\[초안\\] 계획 (2)](https://w/OWN/%5B초안%5D%20계획%20%282%29)",
    ),
    "place on this page": (
        '<ac:link ac:anchor="days"><ac:link-body>below</ac:link-body></ac:link>',
        "below",
    ),
    "place on this page without words": ('<ac:link ac:anchor="days"/>', "days"),
    "blog post": (
        '<ac:link><ri:blog-post ri:content-title="News" ri:posting-day="2026/11/21"/></ac:link>',
        "[News](https://w/OWN/2026/11/21/News)",
    ),
    "page by its id": (
        '<ac:link><ri:content-entity ri:content-id="42"/><ac:link-body>it</ac:link-body></ac:link>',
        "[it](https://w/42)",
    ),
    "file of this page": (
        '<ac:link><ri:attachment ri:filename="a b.pdf"/></ac:link>',
        "[a b.pdf](https://w/OWN/THIS/a%20b.pdf)",
    ),
    "file of another page": (
        f'<ac:link><ri:attachment ri:filename="a.pdf">{LEAVE}</ri:attachment></ac:link>',
        "[a.pdf](https://w/HR/Leave/a.pdf)",
    ),
    "space": ('<ac:link><ri:space ri:space-key="DOC"/></ac:link>', "[DOC](https://w/DOC)"),
    "shortcut": (
        '<ac:link><ri:shortcut ri:key="jira" ri:parameter="AB-1"/></ac:link>',
        "AB-1",
    ),
    "person of Cloud": ('<ac:link><ri:user ri:account-id="u-1"/></ac:link>', "김철수"),
    "person of Server": ('<ac:link><ri:user ri:userkey="u-2"/></ac:link>', "田中 花子"),
    "person by name": ('<ac:link><ri:user ri:username="kim"/></ac:link>', "kim"),
    "person who has left": ('<ac:link><ri:user ri:account-id="u-9"/></ac:link>', UNKNOWN_USER),
    "picture that leads to a page": (
        f'<ac:link>{LEAVE}<ac:link-body><ac:image ac:alt="Map"><ri:attachment ri:filename="m.png"/>'
        "</ac:image></ac:link-body></ac:link>",
        "[Map](https://w/HR/Leave)",
    ),
    "web": (
        '<a href="https://e.example/a_(b)|c">the form</a>',
        "[the form](https://e.example/a_%28b%29%7Cc)",
    ),
    "address of bytes that are no text": (
        '<a href="http://x/%ED%9C%20%E3%80%80%zz">it</a>',
        "[it](http://x/%ED%9C%20%E3%80%80%zz)",
    ),
    "mail": ('<a href="mailto:hr@e.example">HR</a>', "[HR](mailto:hr@e.example)"),
    "web by its address": (
        '<a href="http://e.example/x">http://e.example/x</a>',
        "http://e.example/x",
    ),
    "page by its address": (
        f'<a href="{SMART}">{SMART}</a>',
        f"[휴가 Guide]({SMART.replace('%ED%9C%B4%EA%B0%80', '휴가')})",
    ),
    "script": ('<a href="javascript:alert(1)">words</a>', "words"),
    "within code": ('<code>see <a href="http://e.example">it</a></code>', "`see it`"),
}


@pytest.mark.parametrize(("storage", "markdown"), LINKS.values(), ids=LINKS)
def test_links_keep_text_and_target(storage, markdown):
    assert to_markdown(f"<p>See {storage}.</p>", Site()) == f"See {markdown}."


def test_unresolved_links_become_their_text():
    storage = f"<p><ac:link>{LEAVE}</ac:link> <ac:link><ri:space ri:space-key='DOC'/></ac:link></p>"
    assert to_markdown(storage, Nowhere()) == "Leave DOC"


def test_links_in_tables_are_escaped():
    table = f"<table><tr><td><ac:link>{LEAVE}</ac:link></td><td><a href='http://x/|'>|</a></td></tr></table>"
    assert to_markdown(table, Site()).split("\n")[0] == (
        "| [Leave](https://w/HR/Leave) | [\\|](http://x/%7C) |"
    )


INLINE = {
    "alternative text": (
        '<ac:image ac:alt="결재 흐름도" ac:title="t"><ri:url ri:value="x.png"/></ac:image>',
        "결재 흐름도",
    ),
    "picture's title": (
        '<ac:image ac:title="構成図"><ri:attachment ri:filename="x.png"/></ac:image>',
        "構成図",
    ),
    "file name": ('<ac:image><ri:attachment ri:filename="flow.png"/></ac:image>', "flow.png"),
    "picture of the web": (
        '<ac:image><ri:url ri:value="http://x/y/a%20plan.png?v=1"/></ac:image>',
        "a plan.png",
    ),
    "date": ('<time datetime="2026-11-21"/>', "2026-11-21"),
    "emoji": ('<ac:emoticon ac:name="blue-star" ac:emoji-fallback="🗓"/>', "🗓"),
    "emoticon": ('<ac:emoticon ac:name="tick"/>', "✅"),
    "emoticon of the site": (
        '<ac:emoticon ac:name="x" ac:emoji-shortname=":parrot:"/>',
        ":parrot:",
    ),
    "unknown emoticon": ('<ac:emoticon ac:name="zzz"/>', ":zzz:"),
    "comment marker": (
        '<ac:inline-comment-marker ac:ref="1">marked</ac:inline-comment-marker>',
        "marked",
    ),
    "emphasis": ("<strong>b</strong><em>i</em><u>u</u><s>s</s>x<sup>2</sup>", "biusx2"),
    "element nobody knows": ("<at:var at:name='x'>variable</at:var>", "variable"),
}


@pytest.mark.parametrize(("storage", "markdown"), INLINE.values(), ids=INLINE)
def test_inline_elements_become_their_visible_text(storage, markdown):
    assert to_markdown(f"<p>a {storage} b</p>", Site()) == f"a {markdown} b"


def test_template_placeholders_are_omitted():
    storage = "<p>Owner: <ac:placeholder ac:type='mention'>type a name</ac:placeholder></p>"
    assert to_markdown(storage, Site()) == "Owner:"


def test_adjacent_pictures_are_on_separate_lines():
    picture = '<ac:image><ri:attachment ri:filename="{}.png"/></ac:image>'
    storage = f"<ac:layout-cell>{picture.format('a')}{picture.format('b')}</ac:layout-cell>"
    assert to_markdown(storage, Site()).split() == ["a.png", "b.png"]


def test_adjacent_mentions_and_status_boxes_are_separated_by_spaces():
    people = "".join(f"<ac:link><ri:user ri:account-id='u-{n}'/></ac:link>" for n in (1, 2))
    boxes = macro("status", title="A") + macro("status", title="B")
    assert to_markdown(f"<p>{people}{boxes}s</p>", Site()) == "김철수 田中 花子 A Bs"


def test_captions_follow_their_picture():
    storage = (
        '<ac:image><ri:attachment ri:filename="f.png"/>'
        "<ac:caption><p>그림 <em>1</em></p></ac:caption></ac:image>"
    )
    assert to_markdown(storage, Site()) == "f.png\n그림 1"


def test_tasks_keep_checkbox_assignee_and_date():
    who = '<ac:link><ri:user ri:account-id="u-1"/></ac:link>'
    storage = tasks(
        task("incomplete", f"{who} 보고서 <time datetime='2026-01-02'/>"),
        task("complete", "<p>送った</p>"),
    )
    assert to_markdown(storage, Site()) == "- [ ] 김철수 보고서 2026-01-02\n- [x] 送った"


def test_nested_tasks_are_indented():
    storage = tasks(
        task("incomplete", "one" + tasks(task("complete", "body"))),
        tasks(task("incomplete", "beside")),
    )
    assert to_markdown(storage, Site()) == "- [ ] one\n  - [x] body\n  - [ ] beside"


def test_layouts_are_read_cell_by_cell_in_order():
    storage = (
        "<ac:layout><ac:layout-section ac:type='two_equal'><ac:layout-cell><h2>왼쪽</h2><p>l</p>"
        "</ac:layout-cell><ac:layout-cell><p>r</p></ac:layout-cell></ac:layout-section></ac:layout>"
    )
    assert to_markdown(storage, Site()) == "## 왼쪽\n\nl\n\nr"


def extension(content, fallback=""):
    fallback = f"<ac:adf-fallback>{fallback}</ac:adf-fallback>" if fallback else ""
    return f"<ac:adf-extension>{content}{fallback}</ac:adf-extension>"


PANEL = (
    '<ac:adf-node type="panel"><ac:adf-attribute key="panel-type">note</ac:adf-attribute>'
    "<ac:adf-content><p>기억하세요</p></ac:adf-content></ac:adf-node>"
)


def test_cloud_editor_panels_are_read_once():
    fallback = '<div class="panel"><div class="panelContent"><p>기억하세요</p></div></div>'
    assert to_markdown(extension(PANEL, fallback), Site()) == "Note: 기억하세요"
    assert to_markdown(extension(PANEL), Site()) == "Note: 기억하세요"


def test_decisions_become_a_list():
    decision = '<ac:adf-node type="decision-list"><ac:adf-attribute key="local-id"/></ac:adf-node>'
    fallback = '<ul class="decision-list"><li>Go</li><li>Wait</li></ul>'
    assert to_markdown(extension(decision, fallback), Site()) == "- Go\n- Wait"


def test_apps_without_a_fallback_keep_their_text():
    app = (
        '<ac:adf-node type="extension">'
        '<ac:adf-attribute key="extension-type">com.x</ac:adf-attribute>'
        '<ac:adf-attribute key="text">Diagram</ac:adf-attribute>'
        '<ac:adf-parameter key="guest-params">'
        '<ac:adf-parameter key="note">주문 흐름</ac:adf-parameter>'
        "</ac:adf-parameter></ac:adf-node>"
    )
    markdown = to_markdown(extension(app, "We don't have a way to export this macro."), Site())
    assert markdown == "Diagram 주문 흐름"


def test_headings_lists_and_tables_keep_their_structure():
    storage = (
        "<h1>휴가</h1><ul><li><p>유급</p><ul><li>연차</li></ul></li></ul>"
        "<ol start='3'><li>ask</li></ol><blockquote><p>quoted</p></blockquote>"
        "<table><colgroup><col/></colgroup><tbody>"
        "<tr><th>Who</th><th colspan='2'><p>Days</p></th></tr>"
        "<tr><th rowspan='2'>직원</th><td>2025</td><td>14</td></tr>"
        "<tr><td>2026</td><td>15</td></tr></tbody></table>"
    )
    assert to_markdown(storage, Site()) == (
        "# 휴가\n\n- 유급\n  - 연차\n\n3. ask\n\n> quoted\n\n"
        "| Who | Days |  |\n| --- | --- | --- |\n"
        "| 직원 | 2025 | 14 |\n| 직원 | 2026 | 15 |"
    )
