"""`cli.py ask`, `search`, and `ratings`: answers, passages, and ratings of answers."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.console import (
    AsJson,
    DataDir,
    announce_model,
    command_line,
    minute_text,
    open_services,
    print_json,
    print_warnings,
    spare_threads,
    warn_if_empty,
)
from domain import (
    LOCAL_USER,
    Citation,
    CitationState,
    Explanation,
    Filter,
    Move,
    Scope,
    ScorePart,
    SearchMode,
    Turn,
)
from domain.errors import NotFoundError
from services.answer_support import offers_nearest
from services.export.answer_text import describe, plain_answer

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from bootstrap import Services
    from services.evaluation.rating_service import Rated, Replay, Replayed


def search(
    query: Annotated[str, typer.Argument(help="Words or a question, in quotes")],
    mode: Annotated[SearchMode | None, typer.Option(help="Search mode")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="Number of passages")] = 5,
    source: Annotated[
        list[str] | None, typer.Option(help="Only this source: name, location or id; repeatable")
    ] = None,
    collection: Annotated[
        list[str] | None, typer.Option(help="Only this collection; repeatable")
    ] = None,
    file_format: Annotated[
        list[str] | None, typer.Option("--format", help="Only this format, such as pdf; repeatable")
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Only documents with this label; repeat to allow several"),
    ] = None,
    since: Annotated[
        str, typer.Option(help="Only documents changed on or after this day: 2026-11-21")
    ] = "",
    until: Annotated[str, typer.Option(help="Only documents changed on or before this day")] = "",
    rerank: Annotated[
        bool | None,
        typer.Option("--rerank/--no-rerank", help="Whether to rerank the results"),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Explain why each passage was found")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Find passages without writing an answer."""
    scope = Scope(source or (), collection or (), file_format or (), label or (), since, until)
    spare_threads()
    with open_services(data_dir) as services:
        condition = services.search.condition(LOCAL_USER, scope)
        documents = services.search.search(
            LOCAL_USER, query, mode=mode, k=k, condition=condition, rerank=rerank
        )
        warn_if_empty(services, data_dir)
    _warn_if_not_reranked(documents)
    explained = _explain(query, documents, condition) if explain else [None] * len(documents)
    if as_json:
        print_json([_passage_as_data(*pair) for pair in zip(documents, explained, strict=True)])
        return
    for n, (hit, why) in enumerate(zip(documents, explained, strict=True), start=1):
        _print_hit(n, hit, why)
    if not documents:
        typer.echo("Nothing found.")


def place(metadata: dict[str, Any]) -> str:
    """The location of a passage's document, and its page."""
    page = f", page {metadata['page']}" if metadata["page"] else ""
    return f"{metadata['location']}{page}"


def _warn_if_not_reranked(documents: "list[Document]") -> None:
    reason = documents[0].metadata.get("rerank", {}).get("skipped") if documents else None
    if reason:
        print_warnings([f"Not reranked. {reason}"])


def _explain(
    query: str, documents: "list[Document]", condition: Filter
) -> list[Explanation | None]:
    from services.search.search_service import explain  # slow, and `--help` does not need it

    return [explain(query, hit, condition) for hit in documents]


def _passage_as_data(hit: "Document", why: Explanation | None) -> dict[str, Any]:
    data = {
        "id": hit.id,
        "score": hit.metadata["score"],
        "text": hit.page_content,
        **hit.metadata,
    }
    return data if why is None else data | {"explanation": why}


def _print_hit(n: int, hit: "Document", why: Explanation | None) -> None:
    metadata = hit.metadata
    typer.secho(
        f"{n}. {metadata['title']}  ({place(metadata)}, {metadata['score']:.3f})", bold=True
    )
    typer.echo(f"   {' '.join(hit.page_content.split())[:300]}")
    for line in _explanation_lines(why) if why else ():
        typer.secho(f"   {line}", dim=True)
    typer.echo()


def _explanation_lines(why: Explanation) -> list[str]:
    lines = [_part_line(part) for part in why.parts]
    if why.matched_words:
        lines.append(f"matched words: {', '.join(why.matched_words)}")
    if why.move:
        lines.append(_move_line(why.move))
    if why.condition:
        lines.append(f"filter: {dict(why.condition)}")
    return lines


def _part_line(part: ScorePart) -> str:
    if part.rank is None:
        return f"{part.ranker}: not in this list, share {part.share:.4f}"
    return f"{part.ranker}: rank {part.rank}, score {part.score:.4f}, share {part.share:.4f}"


def _move_line(move: Move) -> str:
    if move.skipped:
        return f"not reranked: {move.skipped}"
    return f"reranked: from rank {move.rank_before} to {move.rank}, score {move.score:.4f}"


_TURN_FIELDS = (
    *("answer", "standalone_question", "model", "unsupported_sentences", "conversation_id"),
    *("state", "error", "reasoning", "timings_ms", "usage"),
)
_CITATION_FIELDS = (
    *("state", "n", "quote", "title", "location", "document_id", "page", "passage_id", "version"),
    *("heading_path", "quoted_by_answer"),
)
MAX_NEAREST = 3
"""The number of nearest passages listed if none answers the question."""


def ask(
    question: Annotated[str, typer.Argument(help="A question, in quotes")],
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Continue the conversation with this id")
    ] = None,
    continue_last: Annotated[
        bool, typer.Option("--continue", help="Continue your last conversation")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Answer a question from the library, with checked citations.

    A question starts a new conversation unless --continue or --conversation makes it a follow-up.
    """
    if continue_last and conversation is not None:
        raise typer.BadParameter("--continue and --conversation cannot be combined")
    spare_threads()
    with open_services(data_dir) as services:
        if continue_last:
            conversation = _last_conversation(services, data_dir)
        announce_model(services)
        turn = services.chat.ask(LOCAL_USER, question, conversation)
        warn_if_empty(services, data_dir)
    print_json(_turn_as_data(turn)) if as_json else _print_turn(turn, data_dir)


def _last_conversation(services: "Services", data_dir: Path | None) -> str:
    """The id of the conversation used last, on the pages or the command line."""
    latest = services.conversations.page(LOCAL_USER, limit=1).items
    if not latest:
        command = f'{command_line("ask", data_dir=data_dir)} "QUESTION"'
        raise NotFoundError(f"There is no conversation to continue: start one with `{command}`.")
    return latest[0].id


def _print_turn(turn: Turn, data_dir: Path | None = None) -> None:
    if turn.standalone_question not in ("", turn.question):  # small talk is not searched
        typer.secho(f"Searched for: {turn.standalone_question}", dim=True)
    typer.echo(f"{plain_answer(turn.answer)}\n")
    for source_line, quotes in _quotes_by_source(turn.citations).items():
        typer.echo("\n    ".join([source_line, *quotes]))
    if offers_nearest(turn):
        typer.echo("Nearest passages, which may not answer the question:")
        for source in turn.sources[:MAX_NEAREST]:
            typer.echo(f"- {source.title} ({place(asdict(source))})")
    if turn.unsupported_sentences:
        typer.echo(f"{turn.unsupported_sentences} sentences without support in the sources")
    if turn.error:
        typer.secho(f"This answer is incomplete. {turn.error}", fg="yellow", err=True)
    follow_up = f'{command_line("ask", "--continue", data_dir=data_dir)} "QUESTION"'
    typer.secho(f"{turn.model}; conversation {turn.conversation_id}", dim=True)
    typer.secho(f"Continue it with: {follow_up}", dim=True)


def _quotes_by_source(citations: "Sequence[Citation]") -> dict[str, list[str]]:
    """The line of each source, in the order of the citations, and its quotes, each once."""
    quotes_by_source: dict[str, list[str]] = {}
    listed = set()
    for citation in citations:
        if (quote := (citation.n, _line(citation.quote))) not in listed:
            listed.add(quote)
            quotes = quotes_by_source.setdefault(_source_line(citation), [])
            quotes.extend([f"“{quote[1]}”"] if quote[1] else [])
    return quotes_by_source


def _source_line(citation: Citation) -> str:
    is_source = citation.state is not CitationState.NO_SUCH_SOURCE
    where = f": {citation.title} ({place(asdict(citation))})" if is_source else ""
    return f"[{citation.n}] {describe(citation)}{where}"


def _turn_as_data(turn: Turn) -> dict[str, Any]:
    return {
        **{name: getattr(turn, name) for name in _TURN_FIELDS},
        "turn_id": turn.id,
        "citations": [
            {name: getattr(citation, name) for name in _CITATION_FIELDS}
            for citation in turn.citations
        ],
    }


def ratings(
    replay: Annotated[
        str | None, typer.Option(metavar="ID", help="Ask the question of this rated turn again")
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """List the ratings of answers, newest first, or ask a rated question again.

    The question is searched with the same options in the current library. Both answers and their
    passages are printed side by side; nothing is stored.
    """
    with open_services(data_dir) as services:
        if replay is None:
            rated = services.ratings.list(LOCAL_USER)
            if as_json:
                print_json([_rating_as_data(one) for one in rated])
            else:
                _print_list(rated, data_dir)
        else:
            replayed = services.ratings.replay(LOCAL_USER, replay)
            print_json(_replay_as_data(replayed)) if as_json else _print_replay(replayed)


def _print_list(rated: "Sequence[Rated]", data_dir: Path | None) -> None:
    for one in rated:
        reason = f" ({one.rating.reason})" if one.rating.reason else ""
        verdict = f"{_verdict(one)}{reason}"
        typer.secho(
            f"{minute_text(one.rating.created_at)}  {verdict}  {_line(one.question)}", bold=True
        )
        if one.rating.comment:
            typer.echo(f"   {_line(one.rating.comment)}")
        command = command_line("ratings", "--replay", one.rating.turn_id, data_dir=data_dir)
        typer.secho(f"   in {_line(one.conversation)}; ask again with: {command}", dim=True)
    if not rated:
        typer.echo("No answer has been rated yet.")


def _rating_as_data(one: "Rated") -> dict[str, Any]:
    return {
        "turn_id": one.rating.turn_id,
        "question": one.question,
        "verdict": _verdict(one),
        "reason": one.rating.reason,
        "comment": one.rating.comment,
        "conversation_id": one.conversation_id,
        "conversation": one.conversation,
        "rated_at": one.rating.created_at,
    }


def _verdict(one: "Rated") -> str:
    return "up" if one.rating.grade else "down"


def _replay_as_data(replay: "Replay") -> dict[str, Any]:
    return {
        "question": replay.before.question,
        "before": _turn_as_data(replay.before),
        "after": _turn_as_data(replay.after),
        "passages": replay.passages,
    }


def _print_replay(replay: "Replay") -> None:
    from rich.console import Console  # slow, and only this shows columns
    from rich.table import Table
    from rich.text import Text

    then = f"Then, {minute_text(replay.before.created_at)}"
    table = Table(then, "Now", box=None, expand=True, padding=(0, 2, 1, 0))
    for column in table.columns:
        column.ratio = 1
    for row in _rows(replay):
        table.add_row(*map(Text, row))  # brackets are not style markup
    typer.secho(_line(replay.before.question), bold=True)
    Console(file=sys.stdout, highlight=False).print(table)


def _rows(replay: "Replay") -> list[tuple[str, str]]:
    before, after = replay.before, replay.after
    return [
        (before.model, after.model),
        (
            f"Searched for: {before.standalone_question}",
            f"Searched for: {after.standalone_question}",
        ),
        (_answer(before), _answer(after)),
        *(
            (_passage(one, one.then, "new"), _passage(one, one.now, "gone"))
            for one in replay.passages
        ),
    ]


def _answer(turn: Turn) -> str:
    return plain_answer(turn.answer) or turn.error or f"no answer ({turn.state.value})"


def _passage(one: "Replayed", number: int | None, otherwise: str) -> str:
    return otherwise if number is None else f"[{number}] {one.title} ({place(asdict(one))})"


def _line(text: str) -> str:
    return " ".join(text.split())
