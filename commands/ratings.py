"""`cli.py ratings`: the thumbs on answers, and a question asked again beside its answer of then."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.ask import turn_as_data
from commands.running import AsJson, DataDir, open_services, print_json
from commands.search import place
from domain import LOCAL_USER, Turn
from services.answer_text import plain_answer

if TYPE_CHECKING:
    from services.ratings import Rated, Replay, Replayed


def ratings(
    replay: Annotated[
        str | None, typer.Option(metavar="ID", help="Ask this one's question again, as it was")
    ] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """List the thumbs that answers were given, newest first, or ask a rated question again.

    Asked again it is searched as it was then, in the library as it is now. Both answers and their
    passages are shown side by side, and nothing of it is kept.
    """
    with open_services(data_dir) as services:
        if replay is None:
            given = services.ratings.list(LOCAL_USER)
            print_json([_as_data(one) for one in given]) if as_json else _print_list(given)
        else:
            done = services.ratings.replay(LOCAL_USER, replay)
            print_json(_replay_as_data(done)) if as_json else _print_replay(done)


def _print_list(given: "Sequence[Rated]") -> None:
    for one in given:
        reason = f" ({one.rating.reason})" if one.rating.reason else ""
        verdict = f"{_verdict(one)}{reason}"
        typer.secho(f"{_when(one.rating.created_at)}  {verdict}  {_line(one.question)}", bold=True)
        if one.rating.comment:
            typer.echo(f"   {_line(one.rating.comment)}")
        typer.secho(f"   in {_line(one.conversation)}; --replay {one.rating.turn_id}", dim=True)
    if not given:
        typer.echo("No answer has been given a thumb yet.")


def _as_data(one: "Rated") -> dict[str, Any]:
    return {
        "turn_id": one.rating.turn_id,
        "question": one.question,
        "verdict": _verdict(one),
        "reason": one.rating.reason,
        "comment": one.rating.comment,
        "conversation_id": one.conversation_id,
        "conversation": one.conversation,
        "rated_at": one.rating.created_at.isoformat(),
    }


def _verdict(one: "Rated") -> str:
    return "up" if one.rating.grade else "down"


def _replay_as_data(replay: "Replay") -> dict[str, Any]:
    return {
        "question": replay.before.question,
        "before": turn_as_data(replay.before),
        "after": turn_as_data(replay.after),
        "passages": [asdict(one) for one in replay.passages],
    }


def _print_replay(replay: "Replay") -> None:
    from rich.console import Console  # slow, and only this shows columns
    from rich.table import Table
    from rich.text import Text

    then = f"Then, {_when(replay.before.created_at)}"
    table = Table(then, "Now", box=None, expand=True, padding=(0, 2, 1, 0))
    for column in table.columns:
        column.ratio = 1
    for row in _rows(replay):
        table.add_row(*map(Text, row))  # what stands in brackets is no style
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


def _when(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _line(text: str) -> str:
    return " ".join(text.split())
