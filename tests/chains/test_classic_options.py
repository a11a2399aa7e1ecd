"""Options, inputs, and methods of LangChain's classic chain: the same effect, or a replacement."""

import inspect
import re
from pathlib import Path

import pytest
from langchain_classic.chains import ConversationalRetrievalChain as ClassicChain
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate, PromptTemplate
from langchain_core.runnables import RunnableLambda, RunnableSerializable

from chains.chat_prompts import CONDENSE_PROMPT
from chains.condensing.condense import RuleCondenser
from chains.conversational_retrieval import ConversationalRetrievalChain
from chains.extractive.extractive_answerer import ExtractiveAnswerer
from tests.chains.scripted import ScriptedRetriever, StreamingChatModel, numbered

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MIGRATION = (Path(__file__).parents[2] / "docs" / "migration.md").read_text(encoding="utf-8")
DOCUMENTS = numbered("Employees get 15 days.", "New employees get 10 days.")
REPLIES = ["How much leave do new employees get?", "They get 10 days."]
PAIRS = [("How much annual leave?", "15 days.")]
FOLLOW_UP = {"question": "And new employees?", "chat_history": PAIRS}
CONTEXT = PromptTemplate.from_template("{context}\n\nSo far: {chat_history}\nQuestion: {question}")
CHAT = ChatPromptTemplate.from_messages([("system", "Use:\n{context}"), ("human", "{question}")])
EXCERPTS = PromptTemplate.from_template("Use {excerpts} for {question}")
TITLED = PromptTemplate.from_template("{title}: {page_content}")


def ours(**options):
    model = StreamingChatModel(replies=REPLIES)
    retriever = ScriptedRetriever(documents=DOCUMENTS)
    return ConversationalRetrievalChain.from_llm(model, retriever, **options), model


def classic(**options):
    model = StreamingChatModel(replies=REPLIES)
    retriever = ScriptedRetriever(documents=DOCUMENTS)
    options = {"combine_docs_chain_kwargs": {"prompt": CONTEXT}, **options}
    chain = ClassicChain.from_llm(
        model, retriever, condense_question_prompt=CONDENSE_PROMPT, **options
    )
    return chain, model


def both(inputs, **options):
    """The prompts and the result of the classic chain, and those of ours."""
    options = {"combine_docs_chain_kwargs": {"prompt": CONTEXT}, **options}
    records = []
    for build in (classic, ours):
        chain, model = build(**options)
        records.append((chain.invoke(inputs, return_only_outputs=False), model.prompts))
    return records


def as_dialogue(history):
    return "\n".join(f"Q: {question}\nA: {answer}" for question, answer in history)


def shorten(history):
    return "; ".join(question for question, _ in history)


@pytest.mark.parametrize(
    "stuffed",
    [
        {"prompt": CONTEXT},
        {"prompt": CHAT},
        {"prompt": CONTEXT, "document_prompt": TITLED},
        {"prompt": CHAT, "document_separator": "\n---\n"},
        {"prompt": EXCERPTS, "document_variable_name": "excerpts"},
    ],
)
def test_prompts_of_combine_docs_chain_kwargs_equal_those_of_the_classic_chain(stuffed):
    theirs, mine = both(FOLLOW_UP, combine_docs_chain_kwargs=stuffed)
    assert mine == theirs
    assert "New employees get 10 days." in mine[1][1][0][1]


@pytest.mark.parametrize("history", [PAIRS, [], [*PAIRS, ("And after two years?", "")]])
@pytest.mark.parametrize("write", [as_dialogue, shorten])
def test_get_chat_history_writes_the_history_of_both_prompts_as_in_the_classic_chain(
    history, write
):
    inputs = {"question": "And new employees?", "chat_history": history}
    theirs, mine = both(inputs, get_chat_history=write)
    assert mine == theirs
    assert write(history) in mine[1][-1][0][1]


def test_a_history_of_another_format_needs_get_chat_history_as_in_the_classic_chain():
    rows = [{"role": "user", "content": "How much leave?"}]
    inputs = {"question": "And then?", "chat_history": rows}
    theirs, mine = both(inputs, get_chat_history=lambda entries: entries[0]["content"])
    assert mine == theirs
    for build in (classic, ours):
        with pytest.raises((TypeError, ValueError)):
            build()[0].invoke(inputs)


def test_a_text_as_history_is_used_unchanged():
    inputs = {"question": "And new employees?", "chat_history": as_dialogue(PAIRS)}
    theirs, mine = both(inputs, get_chat_history=str)
    assert mine == theirs
    chain, model = ours(combine_docs_chain_kwargs={"prompt": CONTEXT})
    assert chain.invoke(inputs) == {"answer": REPLIES[1]}
    assert model.prompts == mine[1]


def test_a_text_as_history_works_without_a_model():
    chain = ConversationalRetrievalChain(
        retriever=ScriptedRetriever(documents=DOCUMENTS),
        condense=RuleCondenser(),
        answer=ExtractiveAnswerer(),
    )
    inputs = {"question": "And new employees?", "chat_history": as_dialogue(PAIRS)}
    assert "10 days" in chain.invoke(inputs)["answer"]


@pytest.mark.parametrize("more", [{}, {"tone": "Politely"}, {"answer": "an input, not an output"}])
def test_the_inputs_are_echoed_as_in_the_classic_chain(more):
    options = {"return_source_documents": True, "return_generated_question": True}
    theirs, mine = both({**FOLLOW_UP, **more}, **options)
    assert mine == theirs
    assert mine[0]["chat_history"] == PAIRS
    assert mine[0]["answer"] == REPLIES[1]


async def test_asynchronous_calls_and_batches_echo_the_inputs_too():
    expected = classic()[0].invoke(FOLLOW_UP)
    options = {"combine_docs_chain_kwargs": {"prompt": CONTEXT}}
    result = await ours(**options)[0].ainvoke(FOLLOW_UP, return_only_outputs=False)
    assert result == expected
    assert ours(**options)[0].batch([FOLLOW_UP], return_only_outputs=False) == [expected]


def test_only_outputs_are_returned_by_default_and_on_request():
    chain, _ = ours()
    assert chain.invoke(FOLLOW_UP) == {"answer": REPLIES[1]}
    assert chain.invoke(FOLLOW_UP, return_only_outputs=True) == {"answer": REPLIES[1]}


def test_the_echo_is_the_first_piece_of_the_stream():
    first, *_ = ours()[0].stream(FOLLOW_UP, return_only_outputs=False)
    assert first == FOLLOW_UP


@pytest.mark.parametrize(
    "options",
    [{}, {"return_source_documents": True}, {"return_generated_question": True}],
)
def test_input_and_output_keys_equal_those_of_the_classic_chain(options):
    chains = [build(**options)[0] for build in (classic, ours)]
    assert chains[0].input_keys == chains[1].input_keys
    assert chains[0].output_keys == chains[1].output_keys
    assert set(chains[1].invoke(FOLLOW_UP)) == set(chains[1].output_keys)


def test_the_output_keys_include_those_that_the_classic_chain_lacks():
    chain, _ = ours(return_searched_questions=True, return_answer_message=True)
    assert chain.output_keys == ["answer", "searched_questions", "answer_message"]
    assert set(chain.invoke(FOLLOW_UP)) == set(chain.output_keys)


def test_a_string_is_a_question_without_a_history():
    chain, model = ours()
    chain.invoke({"question": "VPN?", "chat_history": []})
    assert chain.invoke("VPN?") == {"answer": REPLIES[1]}
    assert model.prompts[0] == model.prompts[1]
    assert chain.retriever.queries == ["VPN?", "VPN?"]
    echoed = chain.invoke("VPN?", return_only_outputs=False)
    assert echoed == {"question": "VPN?", "answer": REPLIES[0]}


async def test_a_string_can_be_streamed_batched_and_passed_on():
    chain = ours()[0]
    pieces = [piece async for piece in chain.astream("VPN?") if piece]
    assert pieces[0] == {"answer": "How"}
    assert ours()[0].batch(["VPN?"]) == [{"answer": REPLIES[0]}]
    assert (RunnableLambda(str.upper) | ours()[0]).invoke("vpn?") == {"answer": REPLIES[0]}


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        ([HumanMessage("VPN?")], TypeError, "a question or a dictionary .* not list"),
        ({"input": "VPN?"}, ValueError, "no `question`, but only: input"),
        ({}, ValueError, "no `question`, but only: nothing"),
    ],
)
def test_another_input_is_rejected_with_what_is_expected(value, error, message):
    with pytest.raises(error, match=message):
        ours()[0].invoke(value)


class Names(BaseCallbackHandler):
    def __init__(self):
        self.started = []

    def on_chain_start(self, serialized, inputs, *, name=None, tags=None, metadata=None, **_):
        if name == "ConversationalRetrievalChain":
            self.started.append(("chain", tags, metadata.get("team")))

    def on_chat_model_start(self, serialized, messages, *, tags=None, metadata=None, **_):
        own = [tag for tag in tags if not tag.startswith("seq:step:")]
        self.started.append(("model", own, metadata.get("team")))


def test_callbacks_tags_and_metadata_of_the_chain_are_added_to_those_of_the_call():
    own, call = Names(), Names()
    chain, _ = ours(callbacks=[own], tags=["mine"], metadata={"team": "HR"})
    chain.invoke("VPN?", {"callbacks": [call], "tags": ["once"]})
    assert own.started == [
        ("chain", ["mine", "once"], "HR"),
        ("model", ["answer", "mine", "once"], "HR"),
    ]
    assert call.started == own.started


def test_callbacks_of_an_enclosing_runnable_are_still_called():
    own, outer = Names(), Names()
    chain, _ = ours(callbacks=[own])
    RunnableLambda(lambda text: chain.invoke(text)).invoke("VPN?", {"callbacks": [outer]})
    assert [name for name, *_ in own.started] == ["chain", "model"]
    assert [name for name, *_ in outer.started] == ["chain", "model"]


@pytest.mark.parametrize(
    ("option", "value", "replacement"),
    [
        ("memory", object(), "chat_history"),
        ("verbose", True, "set_debug"),
        ("chain_type", "map_reduce", "max_tokens_limit"),
        ("output_key", "text", "answer"),
        ("callback_manager", object(), "callbacks"),
        ("question_generator", object(), "condense"),
        ("combine_docs_chain", object(), "combine_docs_chain_kwargs"),
    ],
)
def test_an_option_that_does_not_exist_is_rejected_with_its_replacement(option, value, replacement):
    with pytest.raises(TypeError, match=f"no `{option}`: .*{replacement}"):
        ours(**{option: value})


@pytest.mark.parametrize(
    "options",
    [
        {"verbose": False},
        {"chain_type": "stuff"},
        {"output_key": "answer"},
        {"memory": None, "callbacks": None, "verbose": None},
    ],
)
def test_an_option_that_asks_for_what_happens_anyway_is_accepted(options):
    assert ours(**options)[0].invoke("VPN?") == {"answer": REPLIES[0]}


def test_a_misspelled_option_is_rejected():
    with pytest.raises(ValueError, match="return_source_document\n"):
        ours(return_source_document=True)


@pytest.mark.parametrize(
    ("stuffed", "message"),
    [
        ({"prompt": CONTEXT, "token_max": 3}, "do not include `token_max`: .*document_separator"),
        ({"document_prompt": TITLED}, "need a `prompt`"),
    ],
)
def test_other_combine_docs_chain_kwargs_are_rejected(stuffed, message):
    with pytest.raises(TypeError, match=message):
        ours(combine_docs_chain_kwargs=stuffed)


@pytest.mark.parametrize("method", ["run", "arun", "acall", "apply", "save"])
def test_a_method_that_does_not_exist_names_its_replacement(method):
    with pytest.raises(AttributeError, match=f"no `{method}`: "):
        getattr(ours()[0], method)


def test_a_call_names_invoke():
    with pytest.raises(TypeError, match=r"chain\.invoke"):
        ours()[0]({"question": "VPN?", "chat_history": []})


def test_run_information_is_rejected_with_its_replacement():
    with pytest.raises(TypeError, match="run_id"):
        ours()[0].invoke("VPN?", include_run_info=True)


def test_other_missing_attributes_raise_the_usual_error():
    with pytest.raises(AttributeError, match="retriver"):
        _unused = ours()[0].retriver


INTERNAL = {"prep_inputs", "prep_outputs", "aprep_inputs", "aprep_outputs", "set_verbose"}
INTERNAL |= {"raise_callback_manager_deprecation"}


def names_of_the_classic_chain():
    """Its options, and the public methods that other Runnables do not have."""
    fields = {*ClassicChain.model_fields} - {*RunnableSerializable.model_fields}
    parameters = {*inspect.signature(ClassicChain.from_llm).parameters} - {"kwargs"}
    methods = {
        name for name in {*dir(ClassicChain)} - {*dir(RunnableSerializable)} if name[0] != "_"
    }
    return sorted(fields | parameters | methods - INTERNAL)


def test_the_names_of_the_classic_chain_are_found():
    names = names_of_the_classic_chain()
    assert {"memory", "retriever", "combine_docs_chain_kwargs", "run", "input_keys"} <= {*names}
    assert len(names) > 25


@pytest.mark.parametrize("name", names_of_the_classic_chain())
def test_each_name_of_the_classic_chain_exists_or_has_a_replacement_and_is_documented(name):
    parameters = inspect.signature(ConversationalRetrievalChain.from_llm).parameters
    exists = name in ConversationalRetrievalChain.model_fields or name in parameters
    if not exists and not hasattr(ConversationalRetrievalChain, name):
        with pytest.raises(AttributeError, match=f"no `{name}`: "):
            getattr(ours()[0], name)
    assert re.search(rf"^\| .*`{name}`.* \|", MIGRATION, flags=re.MULTILINE), name


def test_the_example_of_the_migration_runs():
    """The code after the migration, with a scripted model and retriever."""
    [_before, after] = re.findall(r"^```python\n(.*?)^```$", MIGRATION, re.MULTILINE | re.DOTALL)
    scope = {
        "model": StreamingChatModel(replies=["15 days.", *REPLIES]),
        "retriever": ScriptedRetriever(documents=DOCUMENTS),
        "ConversationalRetrievalChain": ConversationalRetrievalChain,
    }
    exec(after, scope)
    assert scope["output"]["answer"] == REPLIES[1]
    assert scope["history"] == [
        HumanMessage("How much annual leave?"),
        AIMessage("15 days."),
        HumanMessage("And new employees?"),
        AIMessage(REPLIES[1]),
    ]


def test_the_default_prompt_numbers_the_documents():
    chain, model = ours()
    chain.invoke("VPN?")
    assert "[1] Title 1" in model.prompts[0][-1][1]
