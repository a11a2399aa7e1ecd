"""The public module: a library is opened and asked in three lines."""

import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda

import footnote
from chains.conversational_retrieval import ConversationalRetrievalChain
from domain import CitationState, Scope, SearchChoice
from domain.errors import InputError, StorageError
from tests.fakes.openai import MODEL, Text

QUESTION = "How many days of annual leave do new employees get?"
FOLLOW_UP = "And for sick leave, when do I tell my lead?"


@pytest.fixture
def library(imported):
    return footnote.open(imported().parts.settings.data_dir)


def test_a_question_is_answered_with_verified_citations_and_continued(library):
    turn = library.ask(QUESTION)
    assert "25 days" in turn.answer
    assert {one.state for one in turn.citations} == {CitationState.VERIFIED}
    following = library.ask(FOLLOW_UP, turn.conversation_id)
    assert following.conversation_id == turn.conversation_id
    assert len(library.services.turns.list(library.principal, turn.conversation_id)) == 2


def test_the_chain_takes_a_question_or_inputs_and_stores_nothing(library):
    chain = library.chain()
    output = chain.invoke(QUESTION)
    assert "25 days" in output["answer"]
    assert "Leave policy" in [one.metadata["title"] for one in output["source_documents"]]
    assert chain.invoke({"question": QUESTION})["answer"] == output["answer"]
    history = [HumanMessage(QUESTION), AIMessage(output["answer"])]
    following = chain.invoke({"question": "And which unused days lapse?", "chat_history": history})
    assert "31 March" in following["answer"]
    assert library.services.conversations.page(library.principal, limit=1).total == 0


async def test_the_chain_streams_and_runs_asynchronously(library):
    chain = library.chain()
    pieces = list(chain.stream(QUESTION))
    assert len(pieces) > 2
    answer = "".join(piece.get("answer", "") for piece in pieces)
    assert answer == (await chain.ainvoke(QUESTION))["answer"]
    assert [piece async for piece in chain.astream(QUESTION)]
    assert (RunnableLambda(str.strip) | chain).invoke(f" {QUESTION} ")["answer"] == answer


def test_the_chain_routes_small_talk_like_the_chat_page(library):
    assert library.chain().invoke("Hello!")["answer"] == library.ask("Hello!").answer


def test_the_chain_follows_an_import(library, handbook):
    chain = library.chain()
    (handbook / "parking.md").write_text("# Parking\n\nPark your car on level seven.\n")
    library.services.directories.import_directory(library.principal, handbook)
    assert "level seven" in chain.invoke("Where do I park my car?")["answer"]


def test_the_chain_uses_the_chat_model_of_the_settings(imported, model_server, monkeypatch):
    folder = imported().parts.settings.data_dir
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("FOOTNOTE_CHAT_MODEL", MODEL)
    model_server.will(Text('They get 25 days [1: "New employees get 25 days"].'))
    assert footnote.open(folder).chain().invoke(QUESTION)["answer"].startswith("They get 25 days")


def test_a_search_choice_restricts_the_documents(library):
    chain = library.chain(SearchChoice(Scope(formats=("pdf",))))
    assert chain.invoke(QUESTION)["source_documents"] == []


@pytest.mark.parametrize(("value", "error"), [(7, TypeError), ({"input": "?"}, ValueError)])
def test_another_input_of_the_chain_is_rejected(library, value, error):
    with pytest.raises(error, match="question"):
        library.chain().invoke(value)


def test_the_retriever_returns_at_most_k_passages(library):
    [passage] = library.retriever(k=1).invoke("WireGuard")
    assert passage.metadata["title"] == "VPN"
    assert len(library.retriever().invoke("annual leave")) > 1


def test_an_empty_question_is_an_error(library):
    with pytest.raises(InputError, match="empty"):
        library.ask("  ")


def test_a_missing_folder_is_an_error_unless_it_is_to_be_created(tmp_path):
    with pytest.raises(StorageError, match="typo"):
        footnote.open(tmp_path / "typo")
    assert not (tmp_path / "typo").exists()
    footnote.open(str(tmp_path / "new"), create=True)
    assert (tmp_path / "new" / "footnote.db").exists()


def test_without_a_folder_that_of_the_settings_is_opened(imported, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(imported().parts.settings.data_dir))
    assert footnote.open().services.library.status(footnote.open().principal).documents == 4


def test_the_chain_class_is_public():
    assert footnote.ConversationalRetrievalChain is ConversationalRetrievalChain
    with pytest.raises(AttributeError, match="no attribute 'chians'"):
        _unused = footnote.chians


def test_a_loaded_module_of_the_same_name_is_reported(tmp_path, monkeypatch):
    file = tmp_path / "storage.py"
    file.touch()
    spec = spec_from_file_location("storage", file)
    monkeypatch.setitem(sys.modules, "storage", module_from_spec(spec))
    with pytest.raises(ImportError, match=rf"module `storage`.* Rename {file}, "):
        footnote.open(tmp_path / "data", create=True)
    assert not (tmp_path / "data").exists()


def test_a_folder_of_modules_of_the_same_name_is_reported(tmp_path, monkeypatch):
    (tmp_path / "services").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    for name in [one for one in sys.modules if one.split(".")[0] == "services"]:
        monkeypatch.delitem(sys.modules, name)
    assert footnote._file_of_another_module("services") == ""
    (tmp_path / "services" / "billing.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert footnote._file_of_another_module("services") == str(tmp_path / "services")
