"""Titles that a prompt or a completion names in another Unicode form or case."""

from unicodedata import normalize

import pytest
from mcp_types import CompleteRequestParams

from api.authentication import Call
from api.mcp.mcp_prompts import completion_of, prompt_of
from domain import LOCAL_USER

forms = pytest.mark.parametrize("form", ["NFC", "NFD"])
TITLES = ["급여 규정", "휴가 규정", "休暇規程"]


@pytest.fixture
def call(handbook, imported):
    text = normalize("NFD", "# 급여 규정\n\n급여는 매월 25일에 나옵니다.\n")
    (handbook / "pay.md").write_text(text, encoding="utf-8")
    return Call(imported(), LOCAL_USER)


def complete(call, value):
    argument = {"name": "document", "value": value}
    params = {"ref": {"type": "ref/prompt", "name": "summarize_document"}, "argument": argument}
    values = completion_of(call, CompleteRequestParams.model_validate(params)).values
    return [normalize("NFC", value) for value in values]


@forms
def test_a_document_is_summarized_whatever_the_unicode_form_of_its_title(call, form):
    for title in TITLES:
        arguments = {"document": normalize(form, title)}
        _, resource = prompt_of(call, "summarize_document", arguments).messages
        assert normalize("NFC", resource.content.resource.text).startswith(f"# {title}")


@forms
def test_a_title_is_completed_whatever_its_unicode_form(call, form):
    assert complete(call, normalize(form, "급여")) == ["급여 규정"]
    assert complete(call, normalize(form, "규정")) == ["급여 규정", "휴가 규정"]


def test_a_title_in_another_case_is_still_found(call):
    assert len(prompt_of(call, "summarize_document", {"document": "leave POLICY"}).messages) == 2
    assert complete(call, "LEAVE") == ["Leave policy"]
