"""What services say is found from where it is said, and nothing else of their code is."""

import pytest

from ui.text_flow import texts_said

ERRORS = "class AppError(Exception): pass\n\nclass InputError(AppError): pass\n"


@pytest.fixture
def texts(tmp_path):
    """The texts said by files given as `name="code"`."""

    def said(**files):
        for name, code in {"errors": ERRORS, **files}.items():
            (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        return [one.text for one in texts_said(tmp_path, sorted(tmp_path.glob("*.py")))]

    return said


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('raise InputError("no name")', ["no name"]),
        ('raise InputError(f"no {name}")', ["no {name}"]),
        ('WHY = "no name"\nraise InputError(WHY)', ["no name"]),
        ('def f(x):\n    told = "no name"\n    raise InputError(told)', ["no name"]),
        ('def f(x):\n    raise InputError("no name" if x else "no box")', ["no box", "no name"]),
        ('def why(x):\n    return f"no {x}"\nraise InputError(why(1))', ["no {x}"]),
        ('def f(told):\n    raise InputError(told)\nf("no name")', ["no name"]),
        ('def f(*, told):\n    raise InputError(told)\nf(told="no name")', ["no name"]),
        ('class OwnError(InputError): pass\nraise OwnError("no name")', ["no name"]),
        (
            'def f(told="no name", *, more="no box"):\n    raise InputError(told + more)',
            ["no box", "no name"],
        ),
        (
            'def f():\n    told = {}\n    told |= dict.fromkeys([1], "no name")\n'
            "    for why in dict.fromkeys(told.values()):\n        put(reason=why)",
            ["no name"],
        ),
        ('raise type(error)(f"no {name}: {error}") from error', ["no {name}: {error}"]),
        (
            "class OwnError(InputError):\n    def __init__(self):\n"
            '        super().__init__("no name")',
            ["no name"],
        ),
        (
            "class Passing(Exception):\n    def __init__(self, why):\n"
            "        self.error = InputError(why)\n"
            'raise Passing("no name")',
            ["no name"],
        ),
        ('put(reason="no name")', ["no name"]),
        ('row.message = "no name"', ["no name"]),
        ('def notices(self):\n    return ("no name",)', ["no name"]),
        ('x = {"warnings": ["no name"]}', ["no name"]),
        ('class Skipped:\n    key: str\n    reason: str\nSkipped("a b", "no name")', ["no name"]),
        (
            'def walk():\n    yield 1, "no name"\n'
            "def f():\n    for key, why in walk():\n        put(reason=why)",
            ["no name"],
        ),
        (
            'def f():\n    told = []\n    told.append("no name")\n    put(warnings=tuple(told))',
            ["no name"],
        ),
        (
            'ENDS = {1: "was stopped", 2: "was ended"}\nrow.message = ENDS.get(1, "")',
            ["was ended", "was stopped"],
        ),
    ],
)
def test_a_text_is_followed_back_from_where_it_is_said(texts, code, found):
    assert sorted(texts(service=code)) == found


def test_a_text_is_followed_into_the_file_that_holds_it(texts):
    held = 'NO_NAME = "no name"\n\ndef unsupported(x):\n    return f"no {x} files"\n'
    code = "raise InputError(NO_NAME)\nraise InputError(unsupported(1))"
    assert texts(formats=held, service=code) == ["no name", "no {x} files"]


@pytest.mark.parametrize(
    "code",
    [
        'raise ValueError("a bad call")',
        '"""A docstring of words."""',
        '_log.warning("went wrong: %s", error)',
        'def f():\n    return "some text"',
        'raise InputError(name)\nname.x = "not this"',
        'def one():\n    other = "not this"\n\ndef two(other):\n    raise InputError(other)',
        'raise InputError(rows(text("select one from two")))',
        'raise InputError("_".join(parts))',
        'def f(cql):\n    raise InputError(f"{cql}")\nf("space in site order by created")',
    ],
)
def test_what_people_do_not_read_is_left_out(texts, code):
    assert texts(service=code) == []


def test_of_functions_of_one_name_each_is_followed_to_its_own_callers(texts):
    fails = "def tell(why):\n    raise InputError(why)\ntell('no name')"
    assert texts(asks="def tell(cql):\n    pass\ntell('space in site')", fails=fails) == ["no name"]


def test_a_value_error_of_the_settings_is_said(texts):
    code = 'from pydantic_settings import BaseSettings\nraise ValueError("must be below one")'
    assert texts(settings=code) == ["must be below one"]


def test_what_a_text_is_about_is_a_text_in_one_word_too(texts):
    code = 'def empty(what):\n    raise InputError(f"The {what} is empty")\nempty("title")'
    assert sorted(texts(service=code)) == ["The {what} is empty", "title"]


def test_code_that_calls_itself_is_followed_once(texts):
    code = 'def f(why):\n    put(reason=why)\n    f(f"{why} again")\n    f("no name")'
    assert texts(service=code) == ["{why} again", "no name"]
