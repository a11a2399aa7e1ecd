"""What services say is shown in the reader's language, whatever values stand in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import service_text
from ui.po_files import service_translations
from ui.service_text import said
from ui.text_templates import Pieces
from ui.translations import TRANSLATED, service_texts

KOREAN = {
    "the file is empty": "빈 파일입니다",
    "such as {{a}}": "예: {{a}}",
    "{root} can't be opened: {why}": "{root}: 열 수 없습니다({why})",
    "{reason} (the older one answers)": "{reason} (이전 것이 답합니다)",
    "page {n} is odd ({name})": "{n}쪽이 이상합니다({name})",
    "Busy. {error}": "바쁩니다. {error}",
    "{holder} writes to {folder}": "{folder}: {holder}에서 씁니다",
    "Another process": "다른 프로세스",
    "{name} is no setting{meant}": "{name}: 없는 설정입니다{meant}",
    ": did you mean {near}?": ". 혹시 {near}인가요?",
    "No {name}.{near}{listed}": "{name} 없음.{near}{listed}",
    " Is it {near}?": " {near}인가요?",
    " There are {names}.": " 있는 것: {names}.",
    "{n} are gone. None was removed": "{n}개가 없습니다. 지우지 않았습니다",
}
ODD = ["{x}", "{", "}}", ".*", "(a|b)+", "[", "\\1", "제목.pdf", "a\nb", "", " ", "%s"]


@pytest.fixture(autouse=True)
def _fresh():
    _forget()
    yield
    _forget()


def _forget():
    service_text._read.cache_clear()
    service_text._templates.cache_clear()


@pytest.fixture
def in_korean(monkeypatch):
    monkeypatch.setattr(service_text, "language", lambda: "ko")
    monkeypatch.setattr(service_text, "service_translations", lambda language: KOREAN)


@pytest.mark.usefixtures("in_korean")
def test_a_known_text_is_translated():
    assert said("the file is empty") == "빈 파일입니다"
    assert said("such as {a}") == "예: {a}"


@pytest.mark.usefixtures("in_korean")
@pytest.mark.parametrize("root", ODD)
@pytest.mark.parametrize("why", ODD)
def test_values_stand_in_the_translation_as_they_are(root, why):
    assert said(f"{root} can't be opened: {why}") == f"{root}: 열 수 없습니다({why})"


@pytest.mark.usefixtures("in_korean")
def test_a_text_within_a_text_is_translated_too():
    assert said("the file is empty (the older one answers)") == "빈 파일입니다 (이전 것이 답합니다)"
    assert said("a can't be opened: the file is empty (the older one answers)") == (
        "a: 열 수 없습니다(빈 파일입니다) (이전 것이 답합니다)"
    )


@pytest.mark.usefixtures("in_korean")
def test_what_somebody_has_called_by_a_word_of_ours_keeps_its_name():
    assert said("Another process writes to X") == "X: 다른 프로세스에서 씁니다"
    assert said("page 3 is odd (Another process)") == "3쪽이 이상합니다(Another process)"


@pytest.mark.usefixtures("in_korean")
def test_of_several_readings_the_one_that_knows_most_is_taken():
    assert said("page 3 is odd (X) (the older one answers)") == (
        "3쪽이 이상합니다(X) (이전 것이 답합니다)"
    )
    assert said("Busy. Another process writes to /a") == "바쁩니다. /a: 다른 프로세스에서 씁니다"


@pytest.mark.usefixtures("in_korean")
def test_texts_put_together_are_translated_each():
    assert said("A is no setting; B is no setting: did you mean C?") == (
        "A: 없는 설정입니다; B: 없는 설정입니다. 혹시 C인가요?"
    )
    assert said("No a. Is it b? There are b, c.") == "a 없음. b인가요? 있는 것: b, c."
    assert said("6 are gone. None was removed; the file is empty") == (
        "6개가 없습니다. 지우지 않았습니다; 빈 파일입니다"
    )


@pytest.mark.usefixtures("in_korean")
def test_a_text_behind_the_name_of_what_it_is_about_is_translated():
    assert said("a.zip: b.md: the file is empty") == "a.zip: b.md: 빈 파일입니다"
    assert said("a.zip: 6 are gone. None was removed; b: the file is empty") == (
        "a.zip: 6개가 없습니다. 지우지 않았습니다; b: 빈 파일입니다"
    )


@pytest.mark.usefixtures("in_korean")
@pytest.mark.parametrize(
    "text", ["", "Something else. And more; and more", "제목", "the file is empt", "{x}", ". ; ?"]
)
def test_an_unknown_text_is_shown_as_it_is(text):
    assert said(text) == text


@pytest.mark.usefixtures("in_korean")
def test_a_text_nested_without_end_is_read_as_deep_as_ours_are():
    assert said("a" + " (the older one answers)" * 5000).endswith("(이전 것이 답합니다)")


def test_in_english_nothing_is_changed():
    assert said("the file is empty") == "the file is empty"


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_texts_of_the_code_are_those_of_the_po_file(language):
    assert set(service_translations(language)) >= {one.english for one in service_texts()}


def test_texts_of_loaders_storage_models_and_services_are_collected():
    texts = {one.english for one in service_texts()}
    assert {
        "0 characters: probably a scan; {reason}",
        "This is no conversation exported from Footnote as JSON ({reason}): choose another file.",
        "{host} failed (HTTP {status}).{said} Try again soon.",
        "{reason}; its removal waits for confirmation",
    } <= texts


PLACES = {"ko": sorted(service_translations("ko")), "ja": sorted(service_translations("ja"))}


@pytest.mark.parametrize("language", TRANSLATED)
@given(data=st.data())
def test_whatever_a_service_says_with_it_a_value_is_kept(language, data):
    template = data.draw(st.sampled_from(PLACES[language]))
    places = Pieces.of(template).places
    values = {
        place: data.draw(st.text(alphabet="Q제{}[*\n", min_size=1), label=place) for place in places
    }
    shown = service_text._read(template.format(**values), language, 6).translation
    assert all(value in shown for value in values.values())
    assert shown == service_translations(language)[template].format(**values)
