"""Every text of the pages is found, in the reader's language, at the moment it is shown."""

import ast
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest
from streamlit.testing.v1 import AppTest

import errors as error_classes
from domain.messages import _, join_messages
from ui.text import english, words
from ui.text.english.text_kinds import Plural, fixed
from ui.text.translations import (
    SERVICES,
    TRANSLATED,
    english_texts,
    service_texts,
    untranslated,
    updated_po_file,
)
from ui.text.words import read_po_file

ROOT = Path(__file__).parents[3]
FUNCTIONS = {"count", "translated"}
SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
MODULES = [path for path in sorted((ROOT / "ui").rglob("*.py")) if path.name != "words.py"]


def looked_up(tree):
    """Each `words.NAME` in the code."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "words"
    ]


def at_import(tree):
    """What runs when the module is imported: its top level, default arguments, class bodies."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (
                default for default in node.args.defaults + node.args.kw_defaults if default
            )
            yield from getattr(node, "decorator_list", [])
        elif looked_up(node):
            yield from at_import(node)
            if isinstance(node, ast.Attribute):
                yield node


@pytest.mark.parametrize("path", [*SCRIPTS, *MODULES], ids=lambda path: path.name)
def test_each_text_that_a_page_shows_is_there(path):
    used = {node.attr for node in looked_up(ast.parse(path.read_text(encoding="utf-8")))}
    assert (
        sorted(name for name in used if not hasattr(english, name) and name not in FUNCTIONS) == []
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_text_is_looked_up_where_a_module_is_imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    early = [name.attr for node in at_import(tree) for name in looked_up(node)]
    assert early == [], "looked up at import, it is the same text for every reader"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("A = words.X", 1),
        ("A = {1: words.X}", 1),
        ("def f(a=words.X): pass", 1),
        ("def f(*, a=words.X): pass", 1),
        ("class A:\n    x: str = words.X", 1),
        ("@shown(words.X)\ndef f(): pass", 1),
        ("if True:\n    A = words.X", 1),
        ("class A:\n    def f(self, x=words.X): return words.Y", 1),
        ("def f(): return words.X", 0),
        ("A = lambda: words.X", 0),
    ],
)
def test_what_runs_at_import_is_told_from_what_runs_later(code, found):
    assert sum(len(looked_up(node)) for node in at_import(ast.parse(code))) == found


def fields(text):
    return {(name, spec, how) for _, name, spec, how in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_translation_has_the_placeholders_of_its_text(language):
    for message in read_po_file(language):
        english_text = message.id if isinstance(message.id, str) else message.id[1]
        given = [message.string] if isinstance(message.string, str) else message.string
        for text in filter(None, given if message.id else []):
            assert fields(text) == fields(english_text), text


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_is_left_doubtful_or_of_a_text_that_is_gone(language):
    po_file = read_po_file(language)
    assert [message.id for message in po_file if message.id and message.fuzzy] == []
    assert list(po_file.obsolete) == []


def test_the_texts_are_read_from_the_source_without_those_that_are_the_same_everywhere(tmp_path):
    (tmp_path / "page.py").write_text(
        '"""The page."""\n'
        'ONE = "One"\n'
        'TWO = ("Half of a sentence, "\n    "and the rest.", "Two")\n'
        'MANY = Plural("1 page", "{n} pages")\n'
        'STATES = {"on": "On", **OTHERS}\n'
        'COMMAND = fixed("make run")\n'
        'DASH = "{a} – {b}"\n'
        "ABREAST = 4\n",
        encoding="utf-8",
    )
    texts = [(text.name, text.english) for text in english_texts(tmp_path)]
    assert texts == [
        ("ONE", "One"),
        ("TWO", "Half of a sentence, and the rest."),
        ("TWO", "Two"),
        ("MANY", ("1 page", "{n} pages")),
        ("STATES", "On"),
    ]


@pytest.mark.parametrize("value", ['f"{title} found"', '"a" + "b"', '"{n}".format(n=1)'])
def test_a_text_that_cannot_be_read_from_the_source_is_refused(tmp_path, value):
    (tmp_path / "page.py").write_text(f"ONE = {value}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.py, line 1"):
        list(english_texts(tmp_path))


@pytest.fixture
def korean(monkeypatch):
    """Puts texts and their Korean in place, and the session's language."""

    def put(texts, into):
        for name, text in texts.items():
            monkeypatch.setattr(english, name, text, raising=False)
        monkeypatch.setattr(words, "translations", lambda language: into)
        monkeypatch.setattr(words, "language", lambda: "ko")

    words._text.cache_clear()
    yield put
    words._text.cache_clear()


def test_texts_within_tuples_and_dicts_are_translated_and_keys_are_not(korean):
    texts = {"PAIR": ("Yes", "No"), "STATES": {"Yes": "Yes", "n": 4}}
    korean(texts, {"Yes": ("예",), "No": ("아니요",)})
    assert words.PAIR == ("예", "아니요")
    assert words.STATES == {"Yes": "예", "n": 4}


def test_a_text_without_a_translation_is_shown_in_english(korean):
    korean({"ODD": "Odd", "COMMAND": fixed("make run")}, {})
    assert (words.ODD, words.COMMAND) == ("Odd", "make run")


def test_a_language_with_one_form_counts_one_with_it_too(korean):
    korean({"SPACES": Plural("1 space", "{n} spaces")}, {"1 space": ("공간 {n}개",)})
    assert words.count(words.SPACES, 1) == "공간 1개"
    assert words.count(words.SPACES, 3) == "공간 3개"


def test_english_counts_one_in_the_singular():
    assert words.count(Plural("1 page of {title}", "{n} pages of {title}"), 1, title="A") == (
        "1 page of A"
    )


def test_a_name_that_no_text_has_is_an_error():
    with pytest.raises(AttributeError, match="NO_SUCH_TEXT"):
        words.NO_SUCH_TEXT  # noqa: B018


def test_a_message_is_translated_with_the_messages_in_it(korean):
    korean({}, {"{name} failed: {why}": ("{name}: 실패({why})",), "it is empty": ("비었습니다",)})
    failed = _("{name} failed: {why}").format(name="it is empty", why=_("it is empty"))
    assert words.translated(failed) == "it is empty: 실패(비었습니다)"
    assert words.translated(_("{a} is new").format(a="x")) == "x is new"


def test_joined_messages_are_translated_each(korean):
    korean({}, {"it is empty": ("비었습니다",)})
    failed = join_messages(("a.zip", join_messages(("{b}.md", _("it is empty")), ": ")), ": ")
    assert words.translated(failed) == "a.zip: {b}.md: 비었습니다"


def test_a_message_stored_as_plain_text_is_known_by_its_text(korean):
    korean({}, {"it is empty": ("비었습니다",)})
    assert words.translated("it is empty") == "비었습니다"
    assert words.translated("x {is} new") == "x {is} new"


def test_messages_of_loaders_storage_models_and_services_are_collected():
    assert {
        "0 characters: probably a scan; {reason}",
        "This is no conversation exported from Footnote as JSON ({reason}): choose another file.",
        "{host} failed (HTTP {status}).{details} Try again soon.",
        "{reason}; its removal waits for confirmation",
    } <= {one.english for one in service_texts()}


def calls():
    """Every call in what pages and workers run, with its file."""
    for name in SERVICES:
        for path in [ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from ((path, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_what_is_marked_for_translation_is_a_literal():
    """Babel finds no other."""
    for path, call in calls():
        if isinstance(call.func, ast.Name) and call.func.id == "_":
            assert isinstance(call.args[0], ast.Constant), f"{path}:{call.lineno}"


def test_an_error_that_a_page_may_show_is_raised_with_a_message():
    errors = {name for name in vars(error_classes) if name.endswith("Error")}
    for path, call in calls():
        if path.is_relative_to(ROOT / "services" / "agent"):  # read by models, and by who starts it
            continue
        if isinstance(call.func, ast.Name) and call.func.id in errors and call.args:
            plain = ast.JoinedStr | ast.BinOp | ast.Constant
            assert not isinstance(call.args[0], plain), f"{path}:{call.lineno}: write _(...)"


def test_a_doubtful_translation_is_not_shown():
    po_file = read_po_file("ko")
    po_file.add("Doubtful", "의심", flags={"fuzzy"})
    po_file.add("Sure", "확실")
    translations = words.translations_in(po_file)
    assert translations["Sure"] == ("확실",)
    assert "Doubtful" not in translations


def test_a_new_text_enters_the_file_untranslated_and_a_lost_one_leaves_it(monkeypatch):
    from ui.text import translations

    kept, new = translations.Text("Ask", "ASK", "a.py", 1), translations.Text("New", "N", "a.py", 2)
    said = translations.Text("no {thing}", "", "services/a.py", 3)
    monkeypatch.setattr(translations, "english_texts", lambda: [kept, new])
    monkeypatch.setattr(translations, "service_texts", lambda: [said])
    po_file = updated_po_file("ja")
    assert {message.id: message.string for message in po_file if message.id} == {
        "Ask": "質問",
        "New": None,
        "no {thing}": None,
    }
    assert translations.untranslated(po_file) == ["New", "no {thing}"]


def page():
    import streamlit as st

    from ui.text import words
    from ui.text.reader_language import settle_language

    settle_language()
    st.write(words.NEW_CONVERSATION)


@pytest.mark.parametrize(
    ("setting", "shown"),
    [("en", "New conversation"), ("ko", "새 대화"), ("ja", "新しい会話")],
)
def test_a_page_is_in_the_language_of_the_setting(monkeypatch, setting, shown):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", setting)
    assert AppTest.from_function(page).run().markdown[0].value == shown


def test_no_two_texts_have_one_name():
    names = {(text.name, text.file, text.line) for text in english_texts()}
    counted = Counter(name for name, _, _ in names)
    assert [name for name, times in counted.items() if times > 1] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_text_is_translated(language):
    assert untranslated(updated_po_file(language)) == [], "translate them: make translations"
