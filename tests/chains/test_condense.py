"""Follow-ups rewritten as standalone questions."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from chains.condensing.condense import RuleCondenser, condense_with_model
from tests.chains.scripted import ScriptedChatModel
from tests.linear_time import require_linear_time

HISTORY = [("How many days of annual leave do we have?", "15 days [1].")]


def by_model(reply, question="And new employees?", history=HISTORY):
    model = ScriptedChatModel(replies=[reply])
    return condense_with_model(model).invoke({"question": question, "chat_history": history})


def by_rule(question, *earlier, idf=None):
    history = [(text, "") for text in earlier]
    return RuleCondenser(idf).invoke({"question": question, "chat_history": history})


@pytest.mark.parametrize(
    "reply",
    [
        "How many days do new employees get?",
        "  How many days do\nnew employees get? \n",
        '"How many days do new employees get?"',
        "“How many days do new employees get?”",
        "Standalone question: How many days do new employees get?",
        "**Standalone question:** How many days do new employees get?",
        "Here is the question: 'How many days do new employees get?'",
        "### Question\n: How many days do new employees get?",
        "<think>They mean leave.\nSo:</think>\n\nHow many days do new employees get?",
        "They mean leave.\nSo:</think>\n\nHow many days do new employees get?",
    ],
)
def test_text_around_the_rewritten_question_is_stripped(reply):
    assert by_model(reply) == "How many days do new employees get?"


@pytest.mark.parametrize(
    ("reply", "standalone"),
    [
        ("독립형 질문: 신입사원의 연차는 며칠인가요?", "신입사원의 연차는 며칠인가요?"),
        ("独立した質問：「新入社員の有給は何日ですか？」", "新入社員の有給は何日ですか？"),
    ],
)
def test_text_around_korean_and_japanese_questions_is_stripped(reply, standalone):
    assert by_model(reply) == standalone


def test_a_lone_surrogate_in_a_reply_is_replaced():
    assert by_model("How many days \ud83d?") == "How many days \ufffd?"


@pytest.mark.parametrize(
    "question",
    [
        'Is "paid leave" the same as "annual leave"?',
        '"Paid leave" or "annual leave"',
        "What does error: 404 mean?",
        "'s-Hertogenbosch office: who leads it?",
    ],
)
def test_quotes_and_colons_within_the_question_are_preserved(question):
    assert by_model(question) == question


@pytest.mark.parametrize("reply", ["", "  \n", '""', "<think>hm</think>", "<think>hm", "Question:"])
def test_an_empty_reply_leaves_the_question_unchanged(reply):
    assert by_model(reply) == "And new employees?"


def test_a_reply_too_long_to_be_a_question_leaves_the_question_unchanged():
    longest = "x" * 1_000
    assert by_model(longest) == longest
    assert by_model(longest + "x") == "And new employees?"


@pytest.mark.parametrize(
    "reply", ["", "<think>hm", "x" * 1_001, "[4] Leave report (page 2) [1] [5]", 'Ten [1: "10"].']
)
def test_an_unusable_reply_falls_back_to_the_rules(reply):
    condense = condense_with_model(ScriptedChatModel(replies=[reply]), fallback=RuleCondenser())
    inputs = {"question": "And new employees?", "chat_history": HISTORY}
    assert condense.invoke(inputs) == "And new employees? (days, annual leave)"


def test_a_question_about_a_numbered_reference_may_be_rewritten_with_its_number():
    rewritten = "What does reference [4] of the leave policy say?"
    assert by_model(rewritten, question="What does [4] say?") == rewritten


def test_a_rewrite_by_the_model_takes_precedence_over_the_rules():
    model = ScriptedChatModel(replies=["How many days do new employees get?"])
    condense = condense_with_model(model, fallback=RuleCondenser())
    inputs = {"question": "And new employees?", "chat_history": HISTORY}
    assert condense.invoke(inputs) == "How many days do new employees get?"


def test_the_length_limit_grows_with_the_typed_question():
    typed = "y" * 1_000
    assert by_model("x" * 2_000, question=typed) == "x" * 2_000
    assert by_model("x" * 2_001, question=typed) == typed


async def test_the_model_is_called_once_with_history_and_question_also_async():
    model = ScriptedChatModel(replies=["Standalone?"])
    condense = condense_with_model(model)
    inputs = {"question": "And then?", "chat_history": HISTORY}
    assert await condense.ainvoke(inputs) == condense.invoke(inputs) == "Standalone?"
    assert model.prompts[0] == model.prompts[1]
    ((_, prompt),) = model.prompts[0]
    assert "\nHuman: How many days of annual leave do we have?\nAssistant: 15 days [1]." in prompt


@pytest.mark.parametrize(
    ("question", "previous", "standalone"),
    [
        ("And in Japan?", "How much annual leave is there?", "And in Japan? (annual leave)"),
        ("What does it cost?", "Is there a VPN?", "What does it cost? (VPN)"),
        ("Red Hat OpenShift?", "What are clusters?", "Red Hat OpenShift?"),
        ("그건 얼마예요?", "VPN 서비스를 신청하나요?", "그건 얼마예요? (VPN 서비스, 신청)"),
        ("그 기한은?", "연차는 어떻게 신청하나요?", "그 기한은? (연차, 신청)"),
        ("じゃあ契約社員は？", "有給休暇は何日ですか?", "じゃあ契約社員は？ (有給休暇)"),
        ("신입사원은요?", "연차 휴가는 며칠인가요?", "신입사원은요? (연차 휴가)"),
        ("その上限は?", "出張の宿泊費を教えてください", "その上限は? (出張, 宿泊費)"),
        ("新入社員は?", "有給休暇は何日ですか?", "新入社員は? (有給休暇)"),
        ("いくらですか?", "VPN接続の料金は?", "いくらですか? (VPN接続, 料金)"),
    ],
)
def test_a_follow_up_gets_the_terms_of_the_last_question(question, previous, standalone):
    assert by_rule(question, previous) == standalone


@pytest.mark.parametrize(
    "question",
    [
        "How do I reset my VPN password?",
        "Is it possible to carry over annual leave?",
        "Does the IT department approve new laptops?",
        "What is Kubernetes?",
        "How many public holidays are there?",
        "연차 휴가는 며칠인가요?",
        "VPN 비밀번호를 어떻게 바꾸나요?",
        "有給休暇は何日ですか?",
        "VPNのパスワードを変更する方法を教えてください",
        "それぞれの部署の責任者は誰ですか?",
    ],
)
def test_a_standalone_question_is_unchanged(question):
    assert by_rule(question, "How does the expense report work?", "出張の宿泊費は?") == question


def test_decomposed_korean_is_condensed_like_composed_korean():
    question, previous = (
        unicodedata.normalize("NFD", text) for text in ("그건요?", "연차 휴가는?")
    )
    assert by_rule(question, previous) == f"{question} (연차 휴가)"


def test_terms_come_from_the_most_recent_questions():
    earlier = ["Who pays for travel insurance?", "Is there a parental leave policy?"]
    assert by_rule("How long is it?", *earlier) == "How long is it? (parental leave policy)"
    assert (
        by_rule("How long is it?", *reversed(earlier)) == "How long is it? (pays, travel insurance)"
    )


def test_a_term_already_in_the_question_is_not_repeated():
    question = "And leave in Japan?"
    assert by_rule(question, "How much parental leaves?") == f"{question} (parental)"


def test_rare_terms_take_precedence_and_terms_unknown_to_idf_are_omitted():
    rarity = {"servic": 0.5, "vpn": 6.0, "wireguard": 7.0, "slow": 4.0, "offic": 3.0}
    previous = "Is the office VPN service by WireGuard slow or gremlinish?"
    looked_up = []

    def idf(tokens):
        looked_up.extend(tokens)
        return {token: rarity[token] for token in tokens if token in rarity}

    assert by_rule("Why is it?", previous, idf=idf) == "Why is it? (VPN, WireGuard slow)"
    assert "gremlinish" in looked_up


def test_terms_come_from_the_cited_source_if_questions_have_none_never_from_answers():
    cited = {"type": "citation", "title": "WireGuard handbook"}
    answer = AIMessage("It runs on Zanzibar.", additional_kwargs={"citations": [cited]})

    def standalone(first):
        history = [HumanMessage(first), answer]
        return RuleCondenser().invoke({"question": "Who runs it?", "chat_history": history})

    assert standalone("How do I use this?") == "Who runs it? (WireGuard handbook)"
    assert standalone("Is there a VPN?") == "Who runs it? (VPN)"


SENTENCE = st.text(st.sampled_from('it 그 연차VPN休暇は.?[1]\n"é́'), max_size=40)


@given(SENTENCE, st.lists(SENTENCE, max_size=4))
def test_the_question_is_only_extended_and_only_with_words_of_earlier_questions(question, earlier):
    standalone = by_rule(question, *earlier)
    assert standalone.startswith(question)
    added = standalone.removeprefix(question)
    history = unicodedata.normalize("NFKC", "\n".join(earlier))
    assert all(phrase in history for phrase in added[2:-1].split(", "))


def test_a_follow_up_without_usable_history_is_unchanged():
    assert by_rule("And then?") == "And then?"
    assert by_rule("And then?", "Why?") == "And then?"


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["か", "[1", "it ", "요!", "a-", "one!", "(", '"', "_"])
def test_a_hundred_thousand_characters_are_condensed_in_linear_time(piece):
    def condense(chars):
        long = piece * (chars // len(piece)) + "x"
        assert by_rule(long, "Is there a VPN?").startswith(long)
        by_model(long)
        inputs = {"question": "And then?", "chat_history": [(long, long)]}
        assert len(RuleCondenser().invoke(inputs)) < 200

    require_linear_time(condense, 100_000)
