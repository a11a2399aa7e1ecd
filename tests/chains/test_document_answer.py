import pytest
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableLambda

from chains.condensing.condense import RuleCondenser
from chains.extractive.extractive_answerer import ExtractiveAnswerer
from chains.requests.document_search import DocumentAnswerer
from chains.requests.request_kinds import is_document_request
from tests.chains.documents import EXPENSES, LEAVE, passages_of

TEXT = "직원은 일주일에 최대 3일까지 원격 근무를 할 수 있습니다."
GUIDE = passages_of("원격 근무 안내", [([], TEXT)], document_id="d3")


class Library:
    """Finds all passages; the guide is the nearest match for any title."""

    def __init__(self, results=(*LEAVE, *EXPENSES), nearest=GUIDE):
        self._results, self._nearest, self.topics = list(results), list(nearest), []

    def retriever(self):
        return RunnableLambda(self._find)

    def _find(self, topic):
        self.topics.append(topic)
        return self._results

    def nearest(self, text):
        return self._nearest


class Counts(Embeddings):
    """Vectors of letter counts: similar texts are close to each other."""

    def embed_query(self, text):
        return [float(text.casefold().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"]

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]


def answer(question, history=(), library=None, embeddings=None, **inputs):
    answerer = DocumentAnswerer(
        library or Library(), RuleCondenser(), ExtractiveAnswerer(), embeddings
    )
    return answerer.invoke({"question": question, "chat_history": list(history), **inputs})


def test_the_answer_is_the_document_with_a_quote_that_supports_it():
    output = answer("Which document says what a hotel room may cost?")
    assert output["answer"] == (
        "Found in this document:\n\n**Expenses**\n\n"
        "“A hotel room may cost up to 120 pounds a night.” [1]"
    )
    [source] = output["source_documents"]
    assert source.metadata["document_id"] == "d2"
    assert output["searched_questions"] == ["what a hotel room may cost"]


def test_several_documents_are_listed_in_the_order_of_the_search():
    output = answer("Which documents mention the company or employees?")
    titles = [one.metadata["title"] for one in output["source_documents"]]
    assert titles == ["Leave policy", "Expenses"]
    assert [one["extras"]["n"] for one in output["answer_citations"]] == [1, 2]
    assert output["answer"].startswith("Found in these documents")


@pytest.mark.parametrize(
    ("question", "introduction"),
    [
        ("어느 문서에 hotel room이 나와?", "다음 문서에 나옵니다."),
        ("どの文書にhotel roomが書かれていますか？", "次の文書に記述があります。"),
    ],
)
def test_the_introduction_is_in_the_language_of_the_request(question, introduction):
    assert answer(question)["answer"].startswith(introduction)


def test_without_a_match_the_nearest_documents_are_offered_as_uncertain():
    output = answer("Which document is about dragons?", embeddings=Counts())
    assert output["answer"].startswith("I found no document that says this for certain.")
    titles = [one.metadata["title"] for one in output["source_documents"]]
    assert titles == ["Leave policy", "원격 근무 안내", "Expenses"]
    for cited in output["answer_citations"]:
        source = output["source_documents"][cited["extras"]["n"] - 1]
        assert cited["cited_text"] in source.page_content


def test_an_empty_library_has_no_matching_document():
    output = answer("Which document is about dragons?", library=Library((), ()))
    assert output["answer"] == "I found no document that says this."
    assert output["source_documents"] == []


def test_a_topic_that_refers_back_is_completed_from_the_conversation():
    library = Library()
    answer("Which document is about it?", [("How much is a hotel?", "120 pounds.")], library)
    assert "hotel" in library.topics[0]


def test_a_complete_topic_is_unchanged_later_in_a_conversation():
    library = Library()
    answer("どの文書にごみの分け方が載っていますか？", [("How much is a hotel?", "120.")], library)
    assert library.topics == ["ごみの分け方"]


def test_a_standalone_question_is_the_topic():
    library = Library()
    answer("Which document is about it?", library=library, standalone_question="hotel room")
    assert library.topics == ["hotel room"]


def test_only_requests_for_documents_are_recognized():
    assert is_document_request({"question": "Which document is about VPN?"})
    assert not is_document_request({"question": "Which file formats are supported?"})
