import json
from urllib.parse import quote

import pytest

from loaders.confluence.storage_format import to_markdown
from tests.loaders.confluence.storage_format.site import Nowhere, Site, macro

FILE = '<ri:attachment ri:filename="견적 (2).pdf"/>'
PAGE = '<ac:link><ri:page ri:space-key="HR" ri:content-title="Leave"/></ac:link>'
PLAN = {
    "title": "Roadmap Planner",
    "lanes": [
        {
            "title": "백엔드",
            "bars": [
                {
                    "title": "Auth",
                    "description": "SSO first",
                    "startDate": "2026-07-01 00:00:00",
                    "endDate": "2026-08-15 00:00:00",
                },
                {"title": "Audit"},
            ],
        }
    ],
    "markers": [{"title": "Launch", "markerDate": "2026-09-01 12:00:00"}],
}

CASES = {
    "code": (
        macro("code", language="py", title="Run it", plain="if x < 1 && y:\n    go()  # &nbsp;\n"),
        "Run it\n\n```py\nif x < 1 && y:\n    go()  # &nbsp;\n```",
    ),
    "code without a language": (macro("code", plain="ls", language="none"), "```\nls\n```"),
    "code with the end of CDATA": (
        macro("code", language="xml", plain="<a><![CDATA[x]]></a>"),
        "```xml\n<a><![CDATA[x]]></a>\n```",
    ),
    "code with a fence": (macro("code", plain="```\nx\n```"), "````\n```\nx\n```\n````"),
    "code of a language with a sign": (
        macro("code", language="c++", plain="x();"),
        "```c++\nx();\n```",
    ),
    "code in a list": (
        f"<ul><li>실행:{macro('code', language='sh', plain='a  b')}</li></ul>",
        "- 실행:\n\n  ```sh\n  a  b\n  ```",
    ),
    "code in a table": (
        f"<table><tr><th>How</th><td>{macro('code', plain='a | b')}</td></tr></table>",
        "| How | `a \\| b` |\n| --- | --- |",
    ),
    "noformat": (macro("noformat", plain="raw  text\n <b>"), "```\nraw  text\n <b>\n```"),
    "info with a title": (
        macro("info", title="Heads up", rich="<p>One</p><p>Two</p>"),
        "Info: Heads up\n\nOne\n\nTwo",
    ),
    "warning": (
        macro("warning", rich="<p>백업을 <strong>지우지</strong> 마세요.</p>"),
        "Warning: 백업을 지우지 마세요.",
    ),
    "note that begins with a list": (macro("note", rich="<ul><li>a</li></ul>"), "Note:\n\n- a"),
    "warning within a tip": (
        macro("tip", rich=macro("warning", title="中", rich="<p>内側</p>")),
        "Tip: Warning: 中\n\n内側",
    ),
    "panel": (
        macro("panel", title="Contacts", bgColor="#fff", rich="<p>Call us</p>"),
        "Contacts\n\nCall us",
    ),
    "expand": (
        macro("expand", title="もっと見る", rich="<p>詳細です。</p>"),
        "もっと見る\n\n詳細です。",
    ),
    "expand without a title": (macro("expand", rich="<p>inside</p>"), "inside"),
    "excerpt": (macro("excerpt", hidden="true", rich="<p>Short</p>"), "Short"),
    "page properties": (
        macro(
            "details",
            id="x y",
            rich="<table><tbody><tr><th>Owner</th><td>Kim</td></tr>"
            "<tr><th>Due</th><td>May</td></tr></tbody></table>",
        ),
        "| Owner | Kim |\n| --- | --- |\n| Due | May |",
    ),
    "status": (
        f"<p>State: {macro('status', colour='Green', title='진행 중', default='')} now</p>",
        "State: 진행 중 now",
    ),
    "status without a title": (macro("status", colour="Red"), "Red"),
    "section and columns": (
        macro(
            "section",
            rich=macro("column", width="50%", rich="L") + macro("column", rich="R"),
        ),
        "L\n\nR",
    ),
    "jira issue": (f"<p>See {macro('jira', server='Our Jira', key='AB-1')}</p>", "See AB-1"),
    "jira list": (
        macro("jira", jqlQuery="project = AB and status = Open", columns="key,summary"),
        "project = AB and status = Open",
    ),
    "include": (macro("include", default=PAGE), "[Leave](https://w/HR/Leave)"),
    "excerpt-include": (
        macro("excerpt-include", default="HR:Leave", nopanel="true"),
        "[Leave](https://w/HR/Leave)",
    ),
    "excerpt-include of a title with a colon": (
        macro("excerpt-include", default="휴가 규정: 2026"),
        "[휴가 규정: 2026](https://w/OWN/휴가%20규정:%202026)",
    ),
    "view-file": (
        macro("view-file", name=FILE, height="250"),
        "[견적 (2).pdf](https://w/OWN/THIS/견적%20%282%29.pdf)",
    ),
    "old pdf": (macro("viewpdf", name="a.pdf"), "[a.pdf](https://w/OWN/THIS/a.pdf)"),
    "gallery": (macro("gallery", title="Trip", include="a.png, b.png"), "Trip a.png, b.png"),
    "profile": (macro("profile", user='<ri:user ri:account-id="u-2"/>'), "田中 花子"),
    "widget": (
        macro("widget", url='<ri:url ri:value="https://v.example/x?a=1&amp;b=2"/>', width="5"),
        "https://v.example/x?a=1&b=2",
    ),
    "iframe": (macro("iframe", src="https://d.example/", width="5"), "https://d.example/"),
    "mathblock": (macro("mathblock", plain="a_1 \\\\ b"), "```latex\na_1 \\\\ b\n```"),
    "mathinline": (
        f"<p>면적은 {macro('mathinline', body='--uriencoded--%5Cpi%20r%5E2')} 이다</p>",
        "면적은 \\pi r^2 이다",
    ),
    "plantuml": (
        macro("plantuml", plain="A -> B", **{"atlassian-macro-output-type": "INLINE"}),
        "```plantuml\nA -> B\n```",
    ),
    "html": (
        macro("html", plain="<p>안녕 <b>you</b> &amp; me</p><script>x()</script><!-- c -->"),
        "안녕 you & me",
    ),
    "roadmap": (
        macro("roadmap", source=quote(json.dumps(PLAN)), title="분기 계획", timeline="true"),
        "분기 계획\n\n- 백엔드\n  - 2026-07-01 - 2026-08-15: Auth: SSO first\n  - Audit\n"
        "- 2026-09-01: Launch",
    ),
    "roadmap of another app": (macro("roadmap", source="manual", title="Plan"), "Plan"),
    "chart": (
        macro("chart", title="Sales", rich="<table><tr><td>1</td><td>2</td></tr></table>"),
        "Sales\n\n| 1 | 2 |\n| --- | --- |",
    ),
    "drawio": (
        macro("drawio", diagramName="결제 흐름", baseUrl="https://w", tbstyle="top", width="900"),
        "결제 흐름",
    ),
    "button": (
        macro("ui-button", color="blue", title="Apply now", url="https://f.example"),
        "Apply now https://f.example",
    ),
    "unknown with a rich body": (
        macro("ui-tab", title="Tab 1", icon="x", rich="<p>in the tab</p>"),
        "Tab 1\n\nin the tab",
    ),
    "unknown with a plain body": (
        macro("foo", subtitle="위 그림", plain="pl\n  ain"),
        "위 그림\n\n```\npl\n  ain\n```",
    ),
    "unknown with parameters only": (
        macro("foo", mode="dark", size="1px 2px", style="x y", hint="읽어 주세요", n="a few words"),
        "읽어 주세요 a few words",
    ),
    "the macro element of old pages": (
        '<ac:macro ac:name="info"><ac:default-parameter>x</ac:default-parameter>'
        "<ac:rich-text-body><p>old</p></ac:rich-text-body></ac:macro>",
        "Info: old",
    ),
}


@pytest.mark.parametrize(("storage", "markdown"), CASES.values(), ids=CASES)
def test_macros_become_the_text_that_readers_see(storage, markdown):
    assert to_markdown(storage, Site()) == markdown


@pytest.mark.parametrize(
    "navigation",
    [
        macro("toc", maxLevel="2", style="default", exclude="see also this"),
        macro("children", sort="creation date", page=PAGE),
        macro("anchor", default="an anchor"),
        macro("pagetree", root=PAGE),
        macro("recently-updated", types="page, comment"),
        macro("contentbylabel", cql='label = "how to" and space = currentSpace()'),
        macro("attachments", patterns="any of them"),
        macro("livesearch", placeholder="Search this space"),
        macro("detailssummary", firstcolumn="Name of it"),
        macro("style", plain="p { color: red }"),
    ],
)
def test_navigation_macros_are_omitted(navigation):
    assert to_markdown(f"<p>a</p>{navigation}<p>b</p>", Site()) == "a\n\nb"


def test_a_toc_zone_keeps_its_content():
    assert to_markdown(macro("toc-zone", location="top", rich="<h2>A</h2>"), Site()) == "## A"


def test_unresolved_pages_and_files_keep_their_names():
    storage = macro("include", default="Leave") + macro("view-file", name=FILE)
    assert to_markdown(storage, Nowhere()) == "Leave\n\n견적 (2).pdf"
