"""Exported conversations.

FOOTNOTE_WRITE_TRANSCRIPTS=1 rewrites the expected files; read them before you commit them.
"""

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from domain import (
    Citation,
    CitationState,
    Conversation,
    RetrievedPassage,
    Scope,
    SearchChoice,
    SearchMode,
    Step,
    StepState,
    Turn,
    TurnState,
)
from services.export.transcript_facts import place
from services.export.transcript_markdown import to_markdown
from services.export.transcripts import TranscriptFormat, file_name, render, shown_branch

EXPECTED = Path(__file__).parent / "transcripts"
WRITE = bool(os.environ.get("FOOTNOTE_WRITE_TRANSCRIPTS"))  # tests see a clean environment
WHEN = datetime(2026, 11, 20, 9, 0, 5, tzinfo=UTC)
POLICY = RetrievedPassage(
    1,
    "p1",
    "d1",
    "Leave policy [2026]",
    "https://wiki.example/leave (new)",
    "New employees get 25 days of annual leave a year.",
    "12",
    3,
    ("Leave policy", "Annual leave"),
    0.7,
)
GUIDE = RetrievedPassage(2, "p2", "d2", "휴가 안내", "/docs/휴가_안내.md", "연차는 15일입니다.")
OTHER = RetrievedPassage(3, "p3", "d3", "<b>Canteen</b>", "canteen.txt", "Lunch is at noon.")
ANSWERED = Turn(
    "t1",
    "c",
    "How many days of *annual* leave?\n1. <script>alert(1)</script>",
    TurnState.COMPLETE,
    WHEN,
    standalone_question="How many days of annual leave do new employees get?",
    answer=(
        "They get **25 days** [1], in Korea 15 [2] [9].\n\n- <img src=https://evil.example/a>\n"
        "- ![x](https://evil.example/b)\n- `a < b`"
    ),
    model="qwen2.5:7b",
    sources=(POLICY, GUIDE, OTHER),
    citations=(
        Citation(1, CitationState.VERIFIED, "25 days of annual leave"),
        Citation(2, CitationState.NOT_FOUND, "연차는 <20일>입니다"),
        Citation(9, CitationState.NO_SUCH_SOURCE, ""),
    ),
    unsupported_sentences=1,
    timings_ms={"found": 12.5, "first_token": 340.0, "total": 1234.5},
    usage={"input_tokens": 1200, "output_tokens": 80},
    search=SearchChoice(Scope(collections=("hr", "law"), since="2026-01-01"), SearchMode.BM25, 5),
)
INTERRUPTED = Turn(
    "t2",
    "c",
    "そして日本では？",
    TurnState.INCOMPLETE,
    WHEN,
    answer="日本では",
    error="The model broke off.",
    parent_id="t1",
)
STEPPED = Turn(
    "t4",
    "c",
    "And for those who *stay*?",
    TurnState.COMPLETE,
    WHEN,
    answer="They get more [1].",
    model="qwen2.5:7b",
    sources=(POLICY, GUIDE),
    citations=(Citation(1, CitationState.VERIFIED, "annual leave"),),
    parent_id="t2",
    search=SearchChoice(by_agent=True),
    steps=(
        Step(
            1,
            "search_documents",
            {"query": "leave <b>after</b> years", "k": 4},
            StepState.DONE,
            "[1] Leave policy\n[2] 휴가 안내",
            (1, 2),
            "Let me *look*.",
            1412.4,
        ),
        Step(2, "jira_find", {"text": "휴가", "in": ["HR"]}, StepState.FAILED, "Failed:\n<no>"),
        Step(3, "list_sources", {}, StepState.DONE, "- handbook\n- " + "long " * 100, (), "", 3.0),
        Step(4, "open_document", {"document_id": "d1"}),
    ),
)
REWORDED = replace(INTERRUPTED, id="t3", question="And in France?", answer="")
CONVERSATION = Conversation("c", "anna", "Leave & <holidays>", WHEN, WHEN, "t4")
TURNS = (ANSWERED, INTERRUPTED, REWORDED, STEPPED)


@pytest.mark.parametrize("form", [TranscriptFormat.MARKDOWN, TranscriptFormat.HTML])
def test_the_file_equals_the_reviewed_one(form):
    expected = EXPECTED / f"leave.{form}"
    exported = render(CONVERSATION, TURNS, form)
    if WRITE:
        expected.write_bytes(exported)
    assert exported.decode() == expected.read_text(encoding="utf-8")


def test_only_the_current_branch_is_exported():
    assert shown_branch(CONVERSATION, TURNS) == [ANSWERED, INTERRUPTED, STEPPED]
    other = replace(CONVERSATION, shown_turn_id="t3")
    assert shown_branch(other, TURNS) == [ANSWERED, REWORDED]
    assert b"And in France?" in render(other, TURNS, TranscriptFormat.HTML)
    assert b"And in France?" in render(CONVERSATION, TURNS, TranscriptFormat.JSON)


@pytest.mark.parametrize("form", TranscriptFormat)
def test_a_conversation_without_turns_can_be_exported(form):
    empty = replace(CONVERSATION, title="", shown_turn_id="")
    assert render(empty, [], form)


hostile = st.text("<>\"'&`*_[]()!#|\\/ \nab1.-")


@given(hostile, hostile, hostile)
def test_html_escapes_markup_of_users_documents_and_answers(question, title, answer):
    source = replace(POLICY, title=title, location="/x" + title)
    step = Step(1, title, {question: answer}, StepState.FAILED, answer, (1,), question)
    turn = replace(ANSWERED, question=question, answer=answer, sources=(source,), steps=(step,))
    conversation = replace(CONVERSATION, shown_turn_id="t1")
    html = render(conversation, [turn], TranscriptFormat.HTML).decode()
    tags = {tag.lower() for tag in re.findall(r"<([a-zA-Z]+)", html)}
    assert not tags & {"script", "img", "iframe", "svg", "object", "form", "link", "b>"}
    body = html[html.index("<body>") :]
    assert not re.search(r"<[a-z]+[^<>]*\son\w+\s*=", body)
    assert {*re.findall(r'href="([^"#]*)', body)} <= {""}


@given(hostile.filter(str.strip))
def test_markdown_shows_a_question_exactly_as_written(question):
    parsed = MarkdownIt("commonmark").parse(to_markdown(CONVERSATION, [_turn_of(question)]))
    kinds = [token.type for token in parsed]
    quoted = parsed[kinds.index("blockquote_open") + 1 : kinds.index("blockquote_close")]
    assert {token.type for token in quoted} <= {"paragraph_open", "inline", "paragraph_close"}
    children = [child for token in quoted for child in token.children or ()]
    assert {child.type for child in children} <= {"text", "text_special", "softbreak", "hardbreak"}
    assert "".join("".join(child.content for child in children).split()) == "".join(
        question.split()
    )


def _turn_of(question):
    return Turn("t", "c", question, TurnState.COMPLETE, WHEN)


@given(hostile, hostile, hostile)
def test_markdown_escapes_markup_of_tool_arguments_and_results(tool, argument, result):
    step = Step(1, tool or "t", {argument: result}, StepState.DONE, result, (), argument)
    text = to_markdown(CONVERSATION, [replace(_turn_of("Why?"), steps=(step,))])
    html = MarkdownIt("commonmark").render(text)
    steps = html[html.index("<ol>") : html.index("</ol>")]
    assert set(re.findall(r"<(\w+)", steps)) <= {"ol", "li", "strong"}


@pytest.mark.parametrize("location", ["javascript:alert(1)", "data:text/html,x", "file:///etc"])
def test_only_web_addresses_become_links(location):
    turn = replace(ANSWERED, sources=(replace(POLICY, location=location),))
    conversation = replace(CONVERSATION, shown_turn_id="t1")
    assert f'href="{location}' not in render(conversation, [turn], TranscriptFormat.HTML).decode()
    assert f"](<{location}" not in render(conversation, [turn], TranscriptFormat.MARKDOWN).decode()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("How many days?", "How-many-days.md"),
        ("연차는 며칠인가요?", "연차는-며칠인가요.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("", "conversation.md"),
        ("???", "conversation.md"),
        ("a" * 200, "a" * 60 + ".md"),
    ],
)
def test_the_file_name_is_safe_on_every_system(title, name):
    assert file_name(title, "md") == name


@pytest.mark.parametrize(
    "answer",
    [
        r"\`<img src=http://evil/x>`",
        "``a <img src=http://evil/x> `",
        "So ```<img src=http://evil/x>",
        "`one\n\n<img src=http://evil/x>` two",
        "[Guide](http://evil/x)",
        "[Guide](javascript:alert(1))",
        "[Guide][g]\n\n[g]: http://evil/x",
        "<http://evil/x>",
        "![x][g]\n\n[g]: http://evil/x",
    ],
)
def test_an_answer_in_markdown_has_no_links_or_images(answer):
    turn = replace(ANSWERED, answer=answer, sources=(), citations=())
    text = to_markdown(Conversation("c", "u", "Leave", WHEN, WHEN), [turn])
    html = MarkdownIt("commonmark").render(text)
    assert not re.search(r"<(?:img|a)\b", html)
    assert "evil" in html or "alert" in html


@pytest.mark.parametrize(
    ("version", "shown"),
    [("12", "12"), ("2026-01-01T09:00:00Z", None), ("ab" * 32, "abababababab…")],
)
def test_only_checksums_are_cut(version, shown):
    assert place(replace(GUIDE, version=version)) == [f"version {shown or version}"]
