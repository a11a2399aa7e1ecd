"""Follow-ups made to stand alone."""

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


def by_rule(question, *asked, idf=None):
    history = [(text, "") for text in asked]
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
def test_what_a_model_puts_around_the_question_is_taken_off(reply):
    assert by_model(reply) == "How many days do new employees get?"


@pytest.mark.parametrize(
    ("reply", "standalone"),
    [
        ("독립형 질문: 신입사원의 연차는 며칠인가요?", "신입사원의 연차는 며칠인가요?"),
        ("独立した質問：「新入社員の有給は何日ですか？」", "新入社員の有給は何日ですか？"),
    ],
)
def test_so_it_is_in_korean_and_japanese(reply, standalone):
    assert by_model(reply) == standalone


def test_half_a_character_of_a_careless_server_can_be_searched_for():
    assert by_model("How many days \ud83d?") == "How many days ??"


@pytest.mark.parametrize(
    "question",
    [
        'Is "paid leave" the same as "annual leave"?',
        '"Paid leave" or "annual leave"',
        "What does error: 404 mean?",
        "'s-Hertogenbosch office: who leads it?",
    ],
)
def test_quotes_and_colons_of_the_question_itself_stay(question):
    assert by_model(question) == question


@pytest.mark.parametrize("reply", ["", "  \n", '""', "<think>hm</think>", "<think>hm", "Question:"])
def test_an_empty_reply_leaves_the_question_as_typed(reply):
    assert by_model(reply) == "And new employees?"


def test_a_reply_too_long_to_be_a_question_leaves_the_question_as_typed():
    longest = "x" * 1_000
    assert by_model(longest) == longest
    assert by_model(longest + "x") == "And new employees?"


@pytest.mark.parametrize(
    "reply", ["", "<think>hm", "x" * 1_001, "[4] Leave report (page 2) [1] [5]", 'Ten [1: "10"].']
)
def test_where_the_model_is_of_no_use_the_question_is_condensed_by_rule(reply):
    condense = condense_with_model(ScriptedChatModel(replies=[reply]), fallback=RuleCondenser())
    inputs = {"question": "And new employees?", "chat_history": HISTORY}
    assert condense.invoke(inputs) == "And new employees? (days, annual leave)"


def test_a_question_about_a_numbered_reference_may_be_rewritten_with_its_number():
    rewritten = "What does reference [4] of the leave policy say?"
    assert by_model(rewritten, question="What does [4] say?") == rewritten


def test_a_rewrite_of_the_model_goes_before_the_rules():
    model = ScriptedChatModel(replies=["How many days do new employees get?"])
    condense = condense_with_model(model, fallback=RuleCondenser())
    inputs = {"question": "And new employees?", "chat_history": HISTORY}
    assert condense.invoke(inputs) == "How many days do new employees get?"


def test_what_is_too_long_is_measured_by_the_question_itself():
    typed = "y" * 1_000
    assert by_model("x" * 2_000, question=typed) == "x" * 2_000
    assert by_model("x" * 2_001, question=typed) == typed


async def test_the_model_is_asked_once_with_history_and_question_also_asynchronously():
    model = ScriptedChatModel(replies=["Standalone?"])
    condense = condense_with_model(model)
    inputs = {"question": "And then?", "chat_history": HISTORY}
    assert await condense.ainvoke(inputs) == condense.invoke(inputs) == "Standalone?"
    assert model.prompts[0] == model.prompts[1]
    ((_, prompt),) = model.prompts[0]
    assert "\nHuman: How many days of annual leave do we have?\nAssistant: 15 days [1]." in prompt


@pytest.mark.parametrize(
    ("question", "asked", "standalone"),
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
def test_a_question_that_leans_on_the_last_gets_its_terms(question, asked, standalone):
    assert by_rule(question, asked) == standalone


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
def test_a_question_that_stands_alone_is_left_as_it_is(question):
    assert by_rule(question, "How does the expense report work?", "出張の宿泊費は?") == question


def test_korean_typed_on_a_mac_in_decomposed_form_is_understood_too():
    question, asked = (unicodedata.normalize("NFD", text) for text in ("그건요?", "연차 휴가는?"))
    assert by_rule(question, asked) == f"{question} (연차 휴가)"


def test_terms_come_from_what_was_asked_last_rather_than_long_ago():
    asked = ["Who pays for travel insurance?", "Is there a parental leave policy?"]
    assert by_rule("How long is it?", *asked) == "How long is it? (parental leave policy)"
    assert (
        by_rule("How long is it?", *reversed(asked)) == "How long is it? (pays, travel insurance)"
    )


def test_a_term_that_the_question_has_already_is_not_repeated():
    question = "And leave in Japan?"
    assert by_rule(question, "How much parental leaves?") == f"{question} (parental)"


def test_with_idf_rare_terms_win_and_those_it_does_not_know_are_left_out():
    rarity = {"servic": 0.5, "vpn": 6.0, "wireguard": 7.0, "slow": 4.0, "offic": 3.0}
    asked = "Is the office VPN service by WireGuard slow or gremlinish?"
    given_tokens = []

    def idf(tokens):
        given_tokens.extend(tokens)
        return {token: rarity[token] for token in tokens if token in rarity}

    assert by_rule("Why is it?", asked, idf=idf) == "Why is it? (VPN, WireGuard slow)"
    assert "gremlinish" in given_tokens


def test_the_cited_source_gives_terms_where_the_questions_have_none_and_the_answer_never():
    cited = {"type": "citation", "title": "WireGuard handbook"}
    answer = AIMessage("It runs on Zanzibar.", additional_kwargs={"citations": [cited]})

    def standalone(first):
        history = [HumanMessage(first), answer]
        return RuleCondenser().invoke({"question": "Who runs it?", "chat_history": history})

    assert standalone("How do I use this?") == "Who runs it? (WireGuard handbook)"
    assert standalone("Is there a VPN?") == "Who runs it? (VPN)"


SENTENCE = st.text(st.sampled_from('it 그 연차VPN休暇は.?[1]\n"é́'), max_size=40)


@given(SENTENCE, st.lists(SENTENCE, max_size=4))
def test_the_question_is_only_ever_added_to_and_only_with_what_was_said(question, asked):
    standalone = by_rule(question, *asked)
    assert standalone.startswith(question)
    added = standalone.removeprefix(question)
    said = unicodedata.normalize("NFKC", "\n".join(asked))
    assert all(phrase in said for phrase in added[2:-1].split(", "))


def test_a_follow_up_without_any_history_to_lean_on_stays():
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
