from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.citations.answer_check import check_answer
from chains.citations.answer_reader import quotation
from chains.extractive.extractive_answerer import ExtractiveAnswerer, no_clear_answer
from chains.extractive.sentence_scores import score_sentences
from domain import CitationState, RetrievedPassage

PASSAGES = [
    "## VPN\n\nInstall the client first. Then sign in with your staff number.\n\n"
    "How do I reset my password? Call the help desk on 4711.",
    "Annual leave is booked in the portal. New employees get **15 days** of annual leave.\n"
    "They earn more with each year of service.",
    "| Grade | Leave days |\n|---|---|\n| Junior | 15 |\n| Senior | 20 |",
    "신입 직원의 연차 휴가는 15일입니다. 휴가는 포털에서 신청합니다.",
    "新入社員の有給休暇は年15日です。申請はポータルで行います。",
    'The manual says "press the red button" and waits.\nThe lamp then blinks twice.',
]
DOCUMENTS = [Document(text, metadata={"title": "Handbook"}) for text in PASSAGES]


def answer(question, documents=DOCUMENTS, **parts):
    return ExtractiveAnswerer(**parts).invoke({"question": question, "input_documents": documents})


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("How many days of leave do new employees get?",
         "“New employees get 15 days of annual leave.” [2]"),
        ("신입 직원의 연차는 며칠인가요?", "“신입 직원의 연차 휴가는 15일입니다.” [4]"),
        ("新入社員の有給休暇は何日ですか。", "“新入社員の有給休暇は年15日です。” [5]"),
        ("How many leave days has the Senior grade?",
         "“Grade | Leave days …  \nSenior | 20” [3]"),
        ("How do I reset my password?", "“Call the help desk on 4711.” [1]"),
        ("When do I press the red button?",
         "“The manual says 'press the red button' and waits.” [6]"),
    ],
)  # fmt: skip
def test_the_sentence_that_answers_is_quoted_first_with_its_number(question, first):
    assert answer(question).content.split("\n\n")[0] == first


@pytest.mark.parametrize(
    "question",
    [
        "How many days of annual leave do new employees get?",
        "연차 휴가는 어디에서 신청하나요?",
        "How many leave days has the Senior grade?",
        "When do I press the red button?",
    ],
)
def test_every_quote_is_verified_in_the_stored_text(question):
    sources = [
        RetrievedPassage(n, f"p{n}", str(n), "", "", text) for n, text in enumerate(PASSAGES, 1)
    ]
    texts = {str(n): f"# Top\n\n{text}" for n, text in enumerate(PASSAGES, 1)}
    checked = check_answer(answer(question).content, sources, texts.get)
    assert checked.citations
    assert {citation.state for citation in checked.citations} == {CitationState.VERIFIED}
    assert checked.unsupported_sentences == 0


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Who won the football world cup?", "I found no clear answer"),
        ("축구 월드컵 우승팀은 어디입니까?", "찾지 못했습니다"),
        ("サッカーの優勝国はどこですか。", "見つかりませんでした"),
    ],
)
def test_an_unanswerable_question_is_refused_in_its_language(question, language):
    message = answer(question)
    assert language in message.content
    checked = check_answer(message.content, [], {}.get)
    assert (checked.citations, checked.unsupported_sentences) == ((), 0)


@pytest.mark.parametrize("question", ["?", "", "the of and", "x" * 10_000])
def test_a_question_without_content_gets_no_quote(question):
    assert answer(question).content == no_clear_answer(question)


def test_without_documents_there_is_no_answer():
    assert answer("How many days?", []).content == no_clear_answer("How many days?")


def test_the_stream_has_a_piece_per_sentence_and_ends_with_the_answerer_name():
    question = {
        "question": "How many days of leave do employees get?",
        "input_documents": DOCUMENTS,
    }
    pieces = list(ExtractiveAnswerer().stream(question))
    assert all("“" in piece.content for piece in pieces[:-1])
    assert 2 <= len(pieces) <= 4
    assert pieces[-1].content == ""
    assert pieces[-1].response_metadata == {
        "model_name": "built-in extractive answerer",
        "finish_reason": "stop",
    }


def test_the_same_sentence_in_overlapping_passages_is_quoted_once():
    twice = [DOCUMENTS[1], Document("New employees get 15 days  of annual leave. Other words.")]
    quotes = answer("How many days of annual leave do new employees get?", twice).content
    assert quotes.count("15 days") == 1


def test_neither_headings_nor_questions_nor_table_headers_are_quoted():
    text = (
        "# Reset the password\n\nHow do I reset the password?\n\n| Reset | Password |\n|---|---|\n"
    )
    assert score_sentences("How do I reset the password?", [Document(text)]) == []


@pytest.mark.parametrize("line", ["=====", "---"])
@pytest.mark.parametrize("end", [".", '."', ".)", ".**", ".[1]", "。」"])
def test_an_underlined_heading_is_not_quoted_but_a_sentence_above_a_rule_is(line, end):
    text = f"Password reset notes\n{line}\n\nPasswords are reset on Mondays{end}\n{line}\n"
    [sentence] = score_sentences("When are passwords reset?", [Document(text)])
    assert text[sentence.start : sentence.end] == f"Passwords are reset on Mondays{end}"


def test_a_header_at_the_end_of_a_passage_is_not_quoted_but_a_lone_row_is():
    header = "Offices have gateways.\n\n| Gateway office | UDP port |"
    [sentence] = score_sentences("Which UDP port?", [Document(header)])
    assert sentence.start == 0
    [row] = score_sentences("Which UDP port?", [Document("| Busan | UDP | 51821 |")])
    assert row.is_row


def test_only_the_matching_rows_of_a_table_are_quoted():
    table = (
        "| Office | Gateway | UDP port |\n|---|---|---|\n| Bristol | brs | 51820 |\n"
        "| Busan | pus | 51821 |\n| Yokohama | yok | 51822 |"
    )
    content = answer("Which UDP port does the Busan gateway use?", [Document(table)]).content
    assert content == "“Office | Gateway | UDP port …  \nBusan | pus | 51821” [1]"


def test_sentences_below_a_question_are_scored_together_with_it():
    text = (
        "When are parcels handed out?\n\nThe desk is on the ground floor. Bring your badge. "
        "At noon and at four.\n\nThe lift is repaired on Monday."
    )
    by_text = {
        text[one.start : one.end]: one.share
        for one in score_sentences("When are parcels handed out?", [Document(text)])
    }
    assert by_text["At noon and at four."] == by_text["Bring your badge."] > 0.5
    assert by_text["The lift is repaired on Monday."] < 0.5


@pytest.mark.parametrize(
    ("question", "definition", "mention"),
    [
        (
            "What is a surge?",
            "A surge is the part of the level that weather makes.",
            "Whoever sees a surge, a big surge or a small surge, tells the desk.",
        ),
        (
            "해일편차가 뭐예요?",
            "해일편차는 관측한 값에서 예측한 값을 뺀 것입니다.",
            "담당자는 해일편차를 매일 확인합니다.",
        ),
        (
            "省電力モードって何？",
            "省電力モードとは、送信を控える状態です。",
            "夜は省電力モードにしてください。",
        ),
    ],
)
def test_a_definition_question_is_answered_by_the_defining_sentence(question, definition, mention):
    best, *_ = score_sentences(question, [Document(f"{mention}\n\n{definition}")])
    assert definition in f"{mention}\n\n{definition}"[best.start : best.end]


def test_navigation_and_code_fences_are_not_sentences():
    text = "[Home](/) | [Ports](/ports)\n\n```bash\nsudo systemctl start port\n```"
    [command] = score_sentences("Which port?", [Document(text)])
    assert text[command.start : command.end] == "sudo systemctl start port"


def test_a_sentence_that_introduces_a_list_is_quoted_with_it():
    text = "Annual leave grows with the years of service:\n\n- Two years: 27 days of annual leave."
    content = answer("How does annual leave grow with the years?", [Document(text)]).content
    assert content == (
        "“Annual leave grows with the years of service:  \nTwo years: 27 days of annual leave.” [1]"
    )


@pytest.mark.parametrize(
    ("first", "follow_up", "second"),
    [
        (
            "How many days of annual leave do new employees get?",
            "And after two years? (annual, new employees)",
            "Employees who have completed two years get 27 days of annual leave.",
        ),
        (
            "신입 사원의 연차는 며칠인가요?",
            "그럼 3년차는요? (신입 사원의 연차)",
            "3년차부터는 2년마다 1일씩 늘어납니다.",
        ),
    ],
)
def test_a_follow_up_is_answered_by_its_new_words(first, follow_up, second):
    text = (
        "New employees get 25 days of annual leave a year. Employees who have completed two years "
        "get 27 days of annual leave. 2년차 직원의 연차는 15일입니다. "
        "신입 사원의 연차는 11일입니다. 3년차부터는 2년마다 1일씩 늘어납니다."
    )
    inputs = {
        "question": follow_up,
        "input_documents": [Document(text)],
        "chat_history": [(first, "25 days. 11일입니다.")],
    }
    assert ExtractiveAnswerer().invoke(inputs).content.startswith(f"“{second}”")


@pytest.mark.parametrize(
    ("typed", "added", "text", "first"),
    [
        (
            "その首都は？",
            " (日本, 人口)",
            "日本の人口は約1億2千万人である。首都は東京である。",
            "首都は東京である。",
        ),
        (
            "And the capital?",
            " (Japan, population)",
            "The population of Japan is 120 million. The capital is Tokyo.",
            "The capital is Tokyo.",
        ),
        (
            "그 수도는?",
            " (일본, 인구)",
            "일본의 인구는 약 1억 2천만 명이다. 수도는 도쿄이다.",
            "수도는 도쿄이다.",
        ),
    ],
)
def test_words_added_by_condensing_count_less_than_typed_words(typed, added, text, first):
    inputs = {
        "question": typed + added,
        "typed_question": typed,
        "input_documents": [Document(text)],
    }
    assert ExtractiveAnswerer().invoke(inputs).content.startswith(f"“{first}”")


def test_the_typed_question_is_embedded():
    class RecordingEmbedding(Meaning):
        queries: ClassVar[list[str]] = []

        def embed_query(self, text):
            self.queries.append(text)
            return [1.0, 0.0]

    text = "The client asks for a code. The client asks for a staff number."
    inputs = {
        "question": "What does it ask for? (client)",
        "typed_question": "What does it ask for?",
        "input_documents": [Document(text)],
    }
    ExtractiveAnswerer(embeddings=RecordingEmbedding()).invoke(inputs)
    assert RecordingEmbedding.queries == ["What does it ask for?"]


def test_library_statistics_identify_an_unanswerable_question():
    question = "How many days of annual leave do astronauts get on Mars?"

    def idf(tokens):
        return {token: 6.0 if token in {"astronaut", "mar"} else 1.0 for token in tokens}

    assert answer(question).content != no_clear_answer(question)
    assert answer(question, idf=idf).content == no_clear_answer(question)


class Meaning(Embeddings):
    """Embeds one sentence like every question."""

    def embed_documents(self, texts):
        return [[1.0, 0.0] if "staff number" in text else [0.0, 1.0] for text in texts]

    def embed_query(self, text):
        return [1.0, 0.0]


class Silent(Meaning):
    """Embeds no question, as if in an unknown language."""

    def embed_query(self, text):
        return [0.0, 0.0]


def test_semantic_similarity_decides_between_sentences_with_equal_word_overlap():
    document = [Document("The client asks for a code. The client asks for a staff number.")]
    question = "What does the client ask for?"
    assert "staff number" in answer(question, document, embeddings=Meaning()).content.split("\n")[0]
    plain = answer(question, document).content
    assert answer(question, document, embeddings=Silent()).content == plain


@given(st.text(max_size=60), st.lists(st.text(max_size=200), max_size=3))
def test_quotes_for_arbitrary_questions_and_texts_are_verified(question, texts):
    documents = [Document(text) for text in texts]
    for sentence in ExtractiveAnswerer().best_sentences(question, documents):
        assert (
            check_answer(
                quotation(sentence.n, sentence.text),
                [RetrievedPassage(n, "", str(n), "", "", text) for n, text in enumerate(texts, 1)],
                lambda document_id: texts[int(document_id) - 1],
            )
            .citations[0]
            .state
            is CitationState.VERIFIED
        )


def test_the_refusal_is_in_the_language_of_the_typed_question():
    inputs = {"question": "zebra", "typed_question": "얼룩말은요?", "input_documents": []}
    assert ExtractiveAnswerer().invoke(inputs).content == no_clear_answer("얼룩말은요?")


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Confluence API 설정은?", "찾지 못했습니다"),
        ("設定WireGuard？", "見つかりませんでした"),
        ("MacBook Pro を紛失", "見つかりませんでした"),
        ("What is the meaning of 연차 here?", "I found no clear answer"),
        ("VPN?", "I found no clear answer"),
    ],
)
def test_product_names_do_not_make_a_question_english(question, language):
    assert language in no_clear_answer(question)
