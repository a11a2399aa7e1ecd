"""Texts of the pages are looked up in the reader's language when they are shown."""

import ast
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest
from streamlit.testing.v1 import AppTest

from domain import errors as error_classes
from domain.messages import _, join_messages
from ui.text import english, words
from ui.text.english.text_kinds import Plural, fixed
from ui.text.translations import (
    SERVICES,
    TRANSLATED,
    english_texts,
    missing_translations,
    service_texts,
    updated_po_file,
)
from ui.text.words import read_po_file

ROOT = Path(__file__).parents[3]
FUNCTIONS = {"count", "translated", "translated_into"}
SCRIPTS = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]
MODULES = [path for path in sorted((ROOT / "ui").rglob("*.py")) if path.name != "words.py"]


def lookups(tree):
    """Each `words.NAME` in the code."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "words"
    ]


def code_run_at_import(tree):
    """The code that runs when a module is imported: top level, default arguments, class bodies."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (
                default for default in node.args.defaults + node.args.kw_defaults if default
            )
            yield from getattr(node, "decorator_list", [])
        elif lookups(node):
            yield from code_run_at_import(node)
            if isinstance(node, ast.Attribute):
                yield node


@pytest.mark.parametrize("path", [*SCRIPTS, *MODULES], ids=lambda path: path.name)
def test_each_text_of_a_page_exists(path):
    names = {node.attr for node in lookups(ast.parse(path.read_text(encoding="utf-8")))}
    assert (
        sorted(name for name in names if not hasattr(english, name) and name not in FUNCTIONS) == []
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_text_is_looked_up_while_a_module_is_imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    early = [name.attr for node in code_run_at_import(tree) for name in lookups(node)]
    assert early == [], "a text that is looked up at import is the same for every reader"


@pytest.mark.parametrize(
    ("code", "count"),
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
def test_the_check_distinguishes_code_that_runs_at_import_from_code_that_runs_later(code, count):
    assert sum(len(lookups(node)) for node in code_run_at_import(ast.parse(code))) == count


def fields(text):
    return {(name, spec, how) for _, name, spec, how in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_translation_has_the_placeholders_of_its_text(language):
    for message in read_po_file(language):
        english_text = message.id if isinstance(message.id, str) else message.id[1]
        translations = [message.string] if isinstance(message.string, str) else message.string
        for text in filter(None, translations if message.id else []):
            assert fields(text) == fields(english_text), text


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_translation_is_fuzzy_or_obsolete(language):
    po_file = read_po_file(language)
    assert [message.id for message in po_file if message.id and message.fuzzy] == []
    assert list(po_file.obsolete) == []


def test_texts_are_collected_from_the_source_except_those_fixed_in_every_language(tmp_path):
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
def test_a_text_that_is_not_a_literal_is_rejected(tmp_path, value):
    (tmp_path / "page.py").write_text(f"ONE = {value}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.py, line 1"):
        list(english_texts(tmp_path))


@pytest.fixture
def korean(monkeypatch):
    """Sets texts with Korean translations, and Korean as the language of the session."""

    def set_texts(texts, translations):
        for name, text in texts.items():
            monkeypatch.setattr(english, name, text, raising=False)
        monkeypatch.setattr(words, "translations", lambda language: translations)
        monkeypatch.setattr(words, "language", lambda: "ko")

    words._text.cache_clear()
    yield set_texts
    words._text.cache_clear()


def test_texts_within_tuples_and_dicts_are_translated_and_keys_are_not(korean):
    texts = {"PAIR": ("Yes", "No"), "STATES": {"Yes": "Yes", "n": 4}}
    korean(texts, {"Yes": ("예",), "No": ("아니요",)})
    assert words.PAIR == ("예", "아니요")
    assert words.STATES == {"Yes": "예", "n": 4}


def test_a_text_without_a_translation_is_shown_in_english(korean):
    korean({"ODD": "Odd", "COMMAND": fixed("make run")}, {})
    assert (words.ODD, words.COMMAND) == ("Odd", "make run")


def test_a_language_with_one_plural_form_uses_it_for_one_too(korean):
    korean({"SPACES": Plural("1 space", "{n} spaces")}, {"1 space": ("공간 {n}개",)})
    assert words.count(words.SPACES, 1) == "공간 1개"
    assert words.count(words.SPACES, 3) == "공간 3개"


def test_english_uses_the_singular_for_one():
    assert words.count(Plural("1 page of {title}", "{n} pages of {title}"), 1, title="A") == (
        "1 page of A"
    )


def test_an_unknown_text_name_is_an_error():
    with pytest.raises(AttributeError, match="NO_SUCH_TEXT"):
        words.NO_SUCH_TEXT  # noqa: B018


def test_a_message_is_translated_with_its_nested_messages(korean):
    korean({}, {"{name} failed: {why}": ("{name}: 실패({why})",), "it is empty": ("비었습니다",)})
    message = _("{name} failed: {why}").format(name="it is empty", why=_("it is empty"))
    assert words.translated(message) == "it is empty: 실패(비었습니다)"
    assert words.translated(_("{a} is new").format(a="x")) == "x is new"


def test_joined_messages_are_each_translated(korean):
    korean({}, {"it is empty": ("비었습니다",)})
    message = join_messages(("a.zip", join_messages(("{b}.md", _("it is empty")), ": ")), ": ")
    assert words.translated(message) == "a.zip: {b}.md: 비었습니다"


def test_a_message_stored_as_plain_text_is_still_translated(korean):
    korean({}, {"it is empty": ("비었습니다",)})
    assert words.translated("it is empty") == "비었습니다"
    assert words.translated("x {is} new") == "x {is} new"


def test_messages_of_loaders_storage_models_and_services_are_collected():
    assert {
        "0 characters: probably a scan; {reason}",
        "This is not a conversation that Footnote exported as JSON ({reason}): choose another"
        " file.",
        "{host} failed (HTTP {status}).{details} Try again later.",
        "{reason}; its removal waits for confirmation",
    } <= {one.english for one in service_texts()}


def calls():
    """Every call in the code of pages and workers, with its file."""
    for name in SERVICES:
        for path in [ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from ((path, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_only_literals_are_marked_for_translation():
    """Babel collects nothing else."""
    for path, call in calls():
        if isinstance(call.func, ast.Name) and call.func.id == "_":
            assert isinstance(call.args[0], ast.Constant), f"{path}:{call.lineno}"


def test_errors_for_pages_have_translatable_messages():
    errors = {name for name in vars(error_classes) if name.endswith("Error")}
    for path, call in calls():
        if path.is_relative_to(ROOT / "services" / "agent"):  # only models and operators see them
            continue
        if isinstance(call.func, ast.Name) and call.func.id in errors and call.args:
            plain = ast.JoinedStr | ast.BinOp | ast.Constant
            assert not isinstance(call.args[0], plain), f"{path}:{call.lineno}: write _(...)"


def test_a_fuzzy_translation_is_not_used():
    po_file = read_po_file("ko")
    po_file.add("Doubtful", "의심", flags={"fuzzy"})
    po_file.add("Sure", "확실")
    translations = words.translations_in(po_file)
    assert translations["Sure"] == ("확실",)
    assert "Doubtful" not in translations


def test_an_update_adds_new_texts_untranslated_and_removes_old_ones(monkeypatch):
    from ui.text import translations

    ask = translations.Text("Ask", "ASK", "a.py", 1)
    new = translations.Text("New", "N", "a.py", 2)
    service_text = translations.Text("no {thing}", "", "services/a.py", 3)
    monkeypatch.setattr(translations, "english_texts", lambda: [ask, new])
    monkeypatch.setattr(translations, "service_texts", lambda: [service_text])
    po_file = updated_po_file("ja")
    assert {message.id: message.string for message in po_file if message.id} == {
        "Ask": "質問",
        "New": None,
        "no {thing}": None,
    }
    assert translations.missing_translations(po_file) == ["New", "no {thing}"]


def page():
    import streamlit as st

    from ui.text import words
    from ui.text.reader_language import settle_language

    settle_language()
    st.write(words.NEW_CONVERSATION)


@pytest.mark.parametrize(
    ("setting", "heading"), [("en", "New conversation"), ("ko", "새 대화"), ("ja", "新しい会話")]
)
def test_a_page_is_in_the_language_of_the_setting(monkeypatch, setting, heading):
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", setting)
    assert AppTest.from_function(page, default_timeout=20).run().markdown[0].value == heading


def test_the_names_of_texts_are_unique():
    names = {(text.name, text.file, text.line) for text in english_texts()}
    counts = Counter(name for name, _, _ in names)
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_each_text_is_translated(language):
    assert missing_translations(updated_po_file(language)) == [], (
        "translate them: make translations"
    )
