import pytest

from loaders.formats import read_document


def title(text: str, name: str = "name.md") -> str:
    return read_document(name, text.encode()).metadata["title"]


def test_markdown_stays_unchanged():
    text = (
        "# Leave\n\n- *15* days\n\n| a | b |\n| --- | --- |\n\n```python\n# code\n\n\n\nx = 1\n```"
    )
    document = read_document("a.md", text.encode())
    assert document.page_content == text
    assert document.metadata["pages"] == []
    assert document.metadata["encoding"] == "utf-8"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Leave policy\ntext", "Leave policy"),
        ("intro\n\n#  휴가 규정 #\n", "휴가 규정"),
        ("---\nlang: en\ntitle: 'From the front'\n---\n# Not this\n", "From the front"),
        ("```\n# a comment\n```\n# Real\n", "Real"),
        ("## Second level\ntext", "name"),
        ("#hashtag", "name"),
    ],
)
def test_the_title_is_read_from_front_matter_or_the_first_heading(text, expected):
    assert title(text) == expected


def test_the_detected_encoding_is_stored_in_the_metadata():
    text = "연차 휴가는 매년 15일이 부여됩니다."
    document = read_document("a.txt", text.encode("cp949"))
    assert (document.page_content, document.metadata["encoding"]) == (text, "cp949")
