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
    """Finds all passages, and holds the guide for nearest where a title is looked for."""

    def __init__(self, found=(*LEAVE, *EXPENSES), titled=GUIDE):
        self._found, self._titled, self.searched = list(found), list(titled), []

    def retriever(self):
        return RunnableLambda(self._find)

    def _find(self, topic):
        self.searched.append(topic)
        return self._found

    def nearest(self, text):
        return self._titled


class Counts(Embeddings):
    """Vectors of how often letters occur: alike texts lie near each other."""

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
    said = answer("Which document says what a hotel room may cost?")
    assert said["answer"] == (
        "Found in this document:\n\n**Expenses**\n\n"
        "“A hotel room may cost up to 120 pounds a night.” [1]"
    )
    [source] = said["source_documents"]
    assert source.metadata["document_id"] == "d2"
    assert said["searched_questions"] == ["what a hotel room may cost"]


def test_several_documents_come_in_the_order_they_were_found():
    said = answer("Which documents mention the company or employees?")
    titles = [one.metadata["title"] for one in said["source_documents"]]
    assert titles == ["Leave policy", "Expenses"]
    assert [one["extras"]["n"] for one in said["answer_citations"]] == [1, 2]
    assert said["answer"].startswith("Found in these documents")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("어느 문서에 hotel room이 나와?", "다음 문서에 나옵니다."),
        ("どの文書にhotel roomが書かれていますか？", "次の文書に記述があります。"),
    ],
)
def test_the_introduction_is_in_the_language_of_the_request(question, says):
    assert answer(question)["answer"].startswith(says)


def test_where_no_document_says_it_the_nearest_are_offered_as_no_more():
    said = answer("Which document is about dragons?", embeddings=Counts())
    assert said["answer"].startswith("I found no document that says this for certain.")
    titles = [one.metadata["title"] for one in said["source_documents"]]
    assert titles == ["Leave policy", "원격 근무 안내", "Expenses"]
    for cited in said["answer_citations"]:
        source = said["source_documents"][cited["extras"]["n"] - 1]
        assert cited["cited_text"] in source.page_content


def test_an_empty_library_has_no_such_document():
    said = answer("Which document is about dragons?", library=Library((), ()))
    assert said["answer"] == "I found no document that says this."
    assert said["source_documents"] == []


def test_a_topic_that_points_back_is_completed_from_the_conversation():
    library = Library()
    answer("Which document is about it?", [("How much is a hotel?", "120 pounds.")], library)
    assert "hotel" in library.searched[0]


def test_a_complete_topic_stays_as_it_is_later_in_a_conversation():
    library = Library()
    answer("どの文書にごみの分け方が載っていますか？", [("How much is a hotel?", "120.")], library)
    assert library.searched == ["ごみの分け方"]


def test_another_question_to_search_for_is_the_topic():
    library = Library()
    answer("Which document is about it?", library=library, standalone_question="hotel room")
    assert library.searched == ["hotel room"]


def test_only_requests_are_taken():
    assert is_document_request({"question": "Which document is about VPN?"})
    assert not is_document_request({"question": "Which file formats are supported?"})
