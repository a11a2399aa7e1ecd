"""Documents read in the reader process are the same as those read in this one."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import UnreadableError
from domain.messages import to_json
from loaders import document_reader, formats
from loaders.confluence.confluence_loader import QUESTIONS, read_storage
from loaders.confluence.storage_format import Links, to_markdown
from loaders.formats.pdf import page_png
from tests.loaders.formats import test_damage, test_registry
from tests.loaders.formats.files import pdf_file
from tests.quick import examples

SAMPLES = Path(__file__).parents[2] / "samples" / "documents"
SAMPLE_FILES = {path.name: path.read_bytes() for path in sorted(SAMPLES.iterdir())}
FILES = {**test_damage.FILES, **test_registry.FILES, **SAMPLE_FILES, "b.mp3": b"x", "c.pdf": b""}


def result_of(read, name, data):
    """The document, or the class, message, and cause of the error."""
    try:
        document = read(name, data)
    except UnreadableError as error:
        is_os_error = isinstance(error.__cause__, OSError)
        return type(error), to_json(str(error)), is_os_error
    return document.page_content, to_json(document.metadata)


def require_equal(name, data):
    isolated = result_of(document_reader.read_document, name, data)
    direct = result_of(formats.read_document, name, data)
    assert isolated == direct


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_read_as_in_this_process(name):
    require_equal(name, FILES[name])


@pytest.mark.parametrize("name", [*test_damage.FILES, *test_registry.FILES])
@given(data=st.data())
@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_is_read_or_rejected_as_in_this_process(name, data):
    whole = FILES[name]
    at = data.draw(st.integers(0, len(whole)))
    junk = data.draw(st.binary(max_size=8))
    require_equal(name, whole[:at] + junk + whole[at + len(junk) :])


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=examples(30))
def test_any_text_and_name_survive(text):
    require_equal(f"{text[:50]}.txt", text.encode("utf-8", "surrogatepass"))
    require_equal(f"{text[:50]}.json", text.encode("utf-8", "surrogatepass"))


@given(text=st.text(max_size=200))
@settings(deadline=None, max_examples=examples(30))
def test_storage_format_is_converted_as_in_this_process(text):
    storage = f"<p>{text}</p><h1>Title</h1>"
    assert read_storage(storage, None) == to_markdown(storage, None)


def test_pages_are_drawn_as_in_this_process():
    data = pdf_file(["Words on the page."])
    assert document_reader.draw_page(data, 1, ["Words"]) == page_png(data, 1, ["Words"])
    with pytest.raises(UnreadableError, match="has 1 pages, but no page 2"):
        document_reader.draw_page(data, 2)


def test_every_question_about_links_is_answered():
    assert {name for name in vars(Links) if not name.startswith("_")} == QUESTIONS
