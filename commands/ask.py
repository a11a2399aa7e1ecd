"""`cli.py ask`: an answer with its checked citations."""

from dataclasses import asdict
from typing import Annotated, Any

import typer

from commands.running import (
    AsJson,
    DataDir,
    announce_model,
    open_services,
    print_json,
    spare_threads,
)
from commands.search import place
from domain import LOCAL_USER, Citation, CitationState, Turn
from services.answer_text import offers_nearest, plain_answer
from services.citation_summary import describe

MAX_NEAREST = 3
"""How many passages are named where none answers."""


def ask(
    question: str,
    conversation: Annotated[str | None, typer.Option(help="Id of one to continue")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Answer a question over the library, with checked citations."""
    spare_threads()
    with open_services(data_dir) as services:
        announce_model(services)
        turn = services.chat.ask(LOCAL_USER, question, conversation)
    print_json(turn_as_data(turn)) if as_json else _print_turn(turn)


def _print_turn(turn: Turn) -> None:
    if turn.standalone_question not in ("", turn.question):  # small talk searches for nothing
        typer.secho(f"Searched for: {turn.standalone_question}", dim=True)
    typer.echo(f"{plain_answer(turn.answer)}\n")
    for citation in turn.citations:
        is_source = citation.state is not CitationState.NO_SUCH_SOURCE
        where = f": {citation.title} ({place(asdict(citation))})" if is_source else ""
        typer.echo(f"[{citation.n}] {describe(citation)}{where}")
    if offers_nearest(turn):
        typer.echo("Nearest passages, which may not answer the question:")
        for source in turn.sources[:MAX_NEAREST]:
            typer.echo(f"- {source.title} ({place(asdict(source))})")
    if turn.unsupported_sentences:
        typer.echo(f"{turn.unsupported_sentences} sentences without support in the sources")
    if turn.error:
        typer.secho(f"This answer is incomplete. {turn.error}", fg="yellow", err=True)
    typer.secho(f"{turn.model}; go on with --conversation {turn.conversation_id}", dim=True)


def turn_as_data(turn: Turn) -> dict[str, Any]:
    """A turn as programs read it."""
    return {
        "answer": turn.answer,
        "standalone_question": turn.standalone_question,
        "model": turn.model,
        "citations": [_citation_as_data(citation) for citation in turn.citations],
        "unsupported_sentences": turn.unsupported_sentences,
        "conversation_id": turn.conversation_id,
        "turn_id": turn.id,
        "state": turn.state.value,
        "error": turn.error,
        "timings_ms": dict(turn.timings_ms),
        "usage": dict(turn.usage),
    }


def _citation_as_data(citation: Citation) -> dict[str, Any]:
    fields = ("n", "quote", "title", "location", "document_id", "page", "passage_id", "version")
    return {
        "state": citation.state.value,
        **{name: getattr(citation, name) for name in fields},
        "heading_path": list(citation.heading_path),
        "quoted_by_answer": citation.quoted_by_answer,
    }
