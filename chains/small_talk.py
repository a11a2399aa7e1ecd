"""Greetings, thanks and "Who are you?", answered without looking into the documents."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from chains.brackets import escape
from chains.built_in_answer import BuiltInAnswerer, Inputs, answer_pieces
from chains.small_talk_phrases import SmallTalk, small_talk
from language.answer_language import Language, answer_language


class LibraryFacts(NamedTuple):
    """How many documents can be searched, and first questions about them, in any language."""

    documents: int
    questions: Sequence[str] = ()


EXAMPLES = 3
"""How many questions are named, those in the language of the reply first."""

_REPLIES: dict[SmallTalk, dict[Language, str]] = {
    SmallTalk.GREETING: {
        "english": "Hello! What would you like to know from your documents?",
        "korean": "안녕하세요! 문서에서 무엇을 찾아 드릴까요?",
        "japanese": "こんにちは。文書について、知りたいことを質問してください。",
    },
    SmallTalk.FAREWELL: {
        "english": "Goodbye! The conversation stays here for you to come back to.",
        "korean": "안녕히 가세요! 이 대화는 그대로 남아 있으니 언제든지 이어 가실 수 있습니다.",
        "japanese": "ではまた。この会話は残っていますので、いつでも続きから質問できます。",
    },
    SmallTalk.THANKS: {
        "english": "Glad to help. Ask whenever you would like to know more.",
        "korean": "도움이 되어 기쁩니다. 더 궁금한 점이 있으면 언제든지 물어보세요.",
        "japanese": "お役に立ててうれしいです。ほかにもあれば、いつでも質問してください。",
    },
}
_INTRODUCTION: dict[Language, str] = {
    "english": (
        "I am Footnote. I answer questions from the documents that were imported here, and quote"
        " the sentences that each answer rests on. Ask a question, ask for a summary of a"
        " document, or ask which document says something."
    ),
    "korean": (
        "저는 Footnote입니다. 여기에 가져온 문서에서 질문의 답을 찾고, 근거가 되는 문장을 그대로"
        " 인용합니다. 궁금한 것을 묻거나, 문서의 요약을 부탁하거나, 어느 문서에 나오는지"
        " 물어보세요."
    ),
    "japanese": (
        "Footnoteです。ここに取り込まれた文書から質問の答えを探し、根拠となる文をそのまま引用します。"
        "知りたいことの質問のほか、文書の要約や、どの文書に書かれているかもお尋ねください。"
    ),
}
_EMPTY: dict[Language, str] = {
    "english": "The library is still empty: import documents first.",
    "korean": "라이브러리가 아직 비어 있으니 먼저 문서를 가져오세요.",
    "japanese": "ライブラリはまだ空です。先に文書を取り込んでください。",
}
_ONE_DOCUMENT: dict[Language, str] = {
    "english": "The library holds 1 document.",
    "korean": "라이브러리에는 문서가 1개 있습니다.",
    "japanese": "ライブラリには文書が1件あります。",
}
_DOCUMENTS: dict[Language, str] = {
    "english": "The library holds {n:,} documents.",
    "korean": "라이브러리에는 문서가 {n:,}개 있습니다.",
    "japanese": "ライブラリには文書が{n:,}件あります。",
}
_FOR_EXAMPLE: dict[Language, str] = {
    "english": "For example:",
    "korean": "예를 들면 다음과 같습니다.",
    "japanese": "たとえば、次のように質問できます。",
}


class SmallTalkAnswerer(BuiltInAnswerer):
    """Replies to small talk in its language; streams no sources, for nothing is searched."""

    def __init__(self, library: Callable[[], LibraryFacts]) -> None:
        """Ask `library` only where somebody wants to know what there is."""
        self._library = library

    def stream(
        self,
        input: Inputs,
        config: RunnableConfig | None = None,  # noqa: ARG002  # the signature is LangChain's
        **kwargs: Any,  # noqa: ARG002  # the same
    ) -> Iterator[Inputs]:
        """The reply to `question`, a piece for each paragraph."""
        kind, language = small_talk(input["question"]), answer_language(input["question"])
        if kind is None or kind is SmallTalk.INTRODUCTION:
            yield from answer_pieces(_introduction(self._library(), language))
        else:
            yield from answer_pieces([_REPLIES[kind][language]])


def is_small_talk(inputs: Inputs) -> bool:
    """Whether `question` is small talk, and no other question is to be searched in its place."""
    return not inputs.get("standalone_question") and small_talk(inputs["question"]) is not None


def _introduction(library: LibraryFacts, language: Language) -> Iterator[str]:
    yield _INTRODUCTION[language]
    yield _holdings(library.documents, language)
    if library.questions:
        own = [one for one in library.questions if answer_language(one) == language]
        examples = list(dict.fromkeys([*own, *library.questions]))[:EXAMPLES]
        yield _FOR_EXAMPLE[language]
        yield "\n".join(f"- {escape(question)}" for question in examples)


def _holdings(documents: int, language: Language) -> str:
    if not documents:
        return _EMPTY[language]
    template = _ONE_DOCUMENT if documents == 1 else _DOCUMENTS
    return template[language].format(n=documents)
