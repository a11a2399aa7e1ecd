"""Compares our chain with LangChain's classic one: prompts, searches, and outputs."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_classic.chains import ConversationalRetrievalChain as ClassicChain
from langchain_classic.chains.combine_documents.stuff import StuffDocumentsChain
from langchain_classic.chains.llm import LLMChain
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate

from chains.chat_prompts import ANSWER_PROMPT, CONDENSE_PROMPT
from chains.conversational_retrieval import ConversationalRetrievalChain
from tests.chains.scripted import (
    ScriptedChatModel,
    ScriptedRetriever,
    StreamingChatModel,
    numbered,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

LEAVE = numbered("Employees get 15 days.", "New employees get 10 days.", "Ask your manager.")
KOREAN = numbered("연차는 15일입니다.", "신입사원의 연차는 11일입니다.")
JAPANESE = numbered("有給休暇は年15日です。", "新入社員は10日です。")
ENGLISH_REPLIES = ["It is 15 days [1].", "How many days do new employees get?", "10 days [2]."]
KOREAN_REPLIES = ["15일입니다 [1].", "신입사원의 연차는 며칠인가요?", "11일입니다 [2]."]
JAPANESE_REPLIES = ["15日です [1]。", "新入社員の有給休暇は何日ですか?", "10日です [2]。"]
BOTH = {"return_source_documents": True, "return_generated_question": True}
WITH_HISTORY = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from these:\n{sources}\nSo far:{chat_history}"),
        ("human", "{question}"),
    ]
)
WITH_TONE = PromptTemplate.from_template("{tone}: {sources} / {question}")


@dataclass(frozen=True)
class Case:
    """A conversation: earlier turns, then questions in order."""

    name: str
    questions: list[str]
    history: list[Any] = field(default_factory=list)
    documents: list[Document] = field(default_factory=lambda: LEAVE)
    replies: list[str] = field(default_factory=lambda: ENGLISH_REPLIES)
    options: dict[str, Any] = field(default_factory=dict)
    answer_prompt: Any = field(default_factory=lambda: ANSWER_PROMPT)
    extra: dict[str, Any] = field(default_factory=dict)
    pairs: bool = True


EN = ["How many days of leave?", "And new employees?", "Who decides?"]
KO = ["연차는 며칠인가요?", "신입사원은요?", "그건 누가 정하나요?"]
JA = ["有給休暇は何日ですか?", "新入社員は?", "それは誰が決めますか?"]
EARLIER_PAIRS = [("Do we have a VPN?", "Yes [1]."), ("Which one?", "WireGuard [2].")]
EARLIER_MESSAGES = [HumanMessage("Do we have a VPN?"), AIMessage("Yes [1].")]
UNFINISHED = [*EARLIER_MESSAGES, HumanMessage("Which one?"), AIMessage("")]
FIXED = {"response_if_no_docs_found": "Nothing found."}

CASES = [
    Case("one question", EN[:1]),
    Case("one question, everything returned", EN[:1], options=BOTH),
    Case("a conversation in pairs", EN, options=BOTH),
    Case("a conversation in messages", EN, options=BOTH, pairs=False),
    Case("Korean in pairs", KO, documents=KOREAN, replies=KOREAN_REPLIES, options=BOTH),
    Case("Korean messages", KO, documents=KOREAN, replies=KOREAN_REPLIES, pairs=False),
    Case("Japanese in pairs", JA, documents=JAPANESE, replies=JAPANESE_REPLIES, options=BOTH),
    Case("Japanese messages", JA, documents=JAPANESE, replies=JAPANESE_REPLIES, pairs=False),
    Case("earlier pairs", EN, history=EARLIER_PAIRS, options=BOTH),
    Case("earlier messages", EN, history=EARLIER_MESSAGES, options=BOTH, pairs=False),
    Case("messages, then pairs", EN, history=EARLIER_MESSAGES, options=BOTH),
    Case("an empty message in the history", EN, history=UNFINISHED, options=BOTH),
    Case("nothing but empty messages", EN[:1], history=[AIMessage("")], options=BOTH),
    Case("an empty answer in a pair", EN[1:2], history=[(EN[0], "")], options=BOTH),
    Case("a system message", EN[1:], history=[SystemMessage("Be kind.")], options=BOTH),
    Case("the question as typed", EN, options={**BOTH, "rephrase_question": False}),
    Case("only the documents", EN, options={"return_source_documents": True}),
    Case("only the standalone question", EN, options={"return_generated_question": True}),
    Case("no documents", EN, documents=[], options=BOTH),
    Case("no documents, fixed response", EN, documents=[], options={**BOTH, **FIXED}),
    Case(
        "no documents, empty response",
        EN,
        documents=[],
        options={**BOTH, "response_if_no_docs_found": ""},
    ),
    Case("documents, fixed response", EN, options={**BOTH, **FIXED}),
    Case("room for all", EN, options={**BOTH, "max_tokens_limit": 65}),
    Case("room for two", EN, options={**BOTH, "max_tokens_limit": 64}),
    Case("room for one", EN, options={**BOTH, "max_tokens_limit": 22}),
    Case("room for none", EN, options={**BOTH, "max_tokens_limit": 21}),
    Case("room for none, fixed response", EN, options={**BOTH, **FIXED, "max_tokens_limit": 1}),
    Case(
        "Korean with room for one",
        KO,
        documents=KOREAN,
        replies=KOREAN_REPLIES,
        options={**BOTH, "max_tokens_limit": 12},
    ),
    Case("a prompt that shows the history", EN, answer_prompt=WITH_HISTORY, options=BOTH),
    Case(
        "as typed, history shown",
        EN,
        answer_prompt=WITH_HISTORY,
        options={"rephrase_question": False},
    ),
    Case("a further input", EN, answer_prompt=WITH_TONE, extra={"tone": "Politely"}),
    Case(
        "braces in question and documents", ["{a}?", "{question}"], documents=numbered("{b} {{c}}")
    ),
]


def classic(case: Case, model: ScriptedChatModel, retriever: ScriptedRetriever) -> ClassicChain:
    answer = StuffDocumentsChain(
        llm_chain=LLMChain(llm=model, prompt=case.answer_prompt),
        document_variable_name="sources",
        document_prompt=PromptTemplate.from_template("[{n}] {title}\n{page_content}"),
    )
    condense = LLMChain(llm=model, prompt=CONDENSE_PROMPT)
    return ClassicChain(
        retriever=retriever,
        question_generator=condense,
        combine_docs_chain=answer,
        **case.options,
    )


def ours(
    case: Case, model: ScriptedChatModel, retriever: ScriptedRetriever
) -> ConversationalRetrievalChain:
    return ConversationalRetrievalChain.from_llm(
        model, retriever, answer_prompt=case.answer_prompt, token_counter=len, **case.options
    )


def converse(case: Case, ask: Any) -> list[dict[str, Any]]:
    history, outputs = list(case.history), []
    for question in case.questions:
        output = ask({"question": question, "chat_history": list(history), **case.extra})
        outputs.append(dict(output))
        turn = (question, output["answer"])
        history += [turn] if case.pairs else [HumanMessage(turn[0]), AIMessage(turn[1])]
    return outputs


@pytest.mark.parametrize("model_class", [ScriptedChatModel, StreamingChatModel])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_prompts_searches_and_outputs_equal_those_of_the_classic_chain(case, model_class):
    records = []
    for build in (classic, ours):
        model = model_class(replies=case.replies)
        retriever = ScriptedRetriever(documents=case.documents)
        chain = build(case, model, retriever)
        options = {"return_only_outputs": True} if build is classic else {}
        outputs = converse(case, lambda inputs, c=chain, o=options: c.invoke(inputs, **o))
        records.append((model.prompts, retriever.queries, outputs))
    assert records[1] == records[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_async_prompts_and_outputs_equal_those_of_the_classic_chain(case):
    records = []
    for build in (classic, ours):
        model = StreamingChatModel(replies=case.replies)
        chain = build(case, model, ScriptedRetriever(documents=case.documents))
        inputs = {"question": "And then?", "chat_history": case.history, **case.extra}
        options = {"return_only_outputs": True} if build is classic else {}
        records.append((model.prompts, dict(await chain.ainvoke(inputs, **options))))
    assert records[1] == records[0]


def test_the_cases_cover_condensing_answering_and_the_fixed_response():
    """Guards the cases themselves: together, they cover each path of the chain."""
    condensed = answered = unanswered = 0
    for case in CASES:
        model = ScriptedChatModel(replies=case.replies)
        converse(case, ours(case, model, ScriptedRetriever(documents=case.documents)).invoke)
        first_lines = [prompt[0][1][:10] for prompt in model.prompts]
        condensed += first_lines.count(CONDENSE_PROMPT.template[:10])
        answered += len(first_lines) - first_lines.count(CONDENSE_PROMPT.template[:10])
        unanswered += len(model.prompts) < len(case.questions)
    assert len(CASES) >= 20
    assert condensed > 30
    assert answered > 50
    assert unanswered >= 1
