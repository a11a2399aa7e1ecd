import pytest

from services.library.document_style import Style, style_of


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("md", Style.MARKDOWN),
        ("/files/a.MD", Style.MARKDOWN),
        ("https://wiki.example/1", Style.MARKDOWN),
        ("txt", Style.PLAIN),
        ("png", Style.PLAIN),
        ("/files/a.pdf", Style.EXTRACTED),
        ("csv", Style.EXTRACTED),
    ],
)
def test_the_format_decides_how_a_text_is_read(name, style):
    assert style_of(name) is style
