"""Footnote on the command line: import, ask, search, check, reindex, evaluate, serve.

Exit codes: 0 done; 1 it failed, and the message says why; 2 the command was mistyped;
3 done, but look: an import with unreadable files or waiting for a confirmation, or a check
that found a disagreement; 130 stopped with Ctrl-C.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain import LOCAL_USER, Citation, ImportReport, ImportState, Outcome, SearchMode, Turn
from errors import AppError, InputError

if TYPE_CHECKING:
    from bootstrap import Services
    from services.progress import OnProgress
    from services.progress import Progress as Report

LOOK = 3
INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Footnote answers questions over your own documents, with proof.",
)
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder of all data (default: FOOTNOTE_DATA_DIR or ./data)"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs")]


@app.command("import")
def import_path(
    path: Annotated[Path, typer.Argument(help="A folder or a file", readable=False)],
    include: Annotated[list[str] | None, typer.Option(help="Only paths that match")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="No paths that match")] = None,
    confirm_removals: Annotated[
        bool, typer.Option(help="Remove documents even if most of the source is gone")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Bring the library up to date with a folder: new, changed and removed files."""
    with _services(data_dir) as services, _progress(quiet=as_json) as progress:
        report = services.directories.import_directory(
            LOCAL_USER,
            path,
            include=include or ("**/*",),
            exclude=exclude or (),
            confirm_removals=confirm_removals,
            on_progress=progress,
        )
    _print_json(_report_as_data(report)) if as_json else _print_report(report)
    raise typer.Exit(_EXIT_CODES.get(report.state, 0))


@app.command()
def ask(
    question: str,
    conversation: Annotated[str | None, typer.Option(help="Id of one to continue")] = None,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Answer a question over the library, with checked citations."""
    with _services(data_dir) as services:
        turn = services.chat.ask(LOCAL_USER, question, conversation)
    _print_json(_turn_as_data(turn)) if as_json else _print_turn(turn)


@app.command()
def search(
    query: str,
    mode: Annotated[SearchMode | None, typer.Option(help="How to search")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many passages")] = 5,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Find passages without answering."""
    with _services(data_dir) as services:
        found = services.search.search(LOCAL_USER, query, mode=mode, k=k)
    hits = [
        {"id": hit.id, "score": hit.metadata["score"], "text": hit.page_content, **hit.metadata}
        for hit in found
    ]
    if as_json:
        _print_json(hits)
        return
    for n, hit in enumerate(hits, start=1):
        typer.secho(f"{n}. {hit['title']}  ({_place(hit)}, {hit['score']:.3f})", bold=True)
        typer.echo(f"   {' '.join(hit['text'].split())[:300]}\n")
    if not hits:
        typer.echo("Nothing found.")


@app.command()
def check(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Verify that ledger, passages and keyword index agree."""
    with _services(data_dir) as services:
        report = services.maintenance.check(LOCAL_USER)
    if as_json:
        _print_json({"agrees": report.agrees, "disagreements": report.disagreements})
    else:
        for line in report.disagreements:
            typer.echo(line)
        verdict = "all agree." if report.agrees else "`python cli.py reindex` repairs it."
        typer.echo(f"{report.documents} documents, {report.passages} passages: {verdict}")
    raise typer.Exit(0 if report.agrees else LOOK)


@app.command()
def reindex(data_dir: DataDir = None) -> None:
    """Rebuild passages and keyword index from the ledger, with the settings of now."""
    with _services(data_dir, tell=False) as services, _progress() as progress:
        report = services.maintenance.reindex(LOCAL_USER, on_progress=progress)
    typer.echo(f"{report.passages_embedded} passages embedded; the new index answers now.")


@app.command()
def evaluate(
    folder: Annotated[Path, typer.Argument(help="A labelled set: BEIR or SQuAD layout")],
    mode: Annotated[list[SearchMode] | None, typer.Option(help="May be repeated")] = None,
    queries: Annotated[str, typer.Option(help="last, rewrite or condensed")] = "last",
    answers: Annotated[
        bool, typer.Option("--answers", help="Measure the extractive answerer instead")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions, seeded")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write figures here")] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure search (nDCG@10, recall, ms per query) or answers on a labelled set."""
    if json_file is not None and not json_file.parent.is_dir():  # not after minutes of measuring
        raise InputError(f"There is no folder {json_file.parent} to write the figures to.")
    with _services(data_dir, tell=False) as services, _progress() as progress:
        if answers:
            figures = [services.evaluation.measure_answers(folder, sample, on_progress=progress)]
        else:
            figures = services.evaluation.measure_search(
                folder, mode, queries, sample, on_progress=progress
            )
    for row in figures:
        typer.echo("  ".join(f"{name} {_rounded(value)}" for name, value in row.items()))
    if json_file is not None:
        json_file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


@app.command()
def serve(port: int = 8501, data_dir: DataDir = None) -> None:
    """Serve the chat page; the very first start imports the sample documents."""
    command = [sys.executable, "-m", "streamlit", "run", "app.py", f"--server.port={port}"]
    with _services(data_dir) as services:
        with _progress() as progress:
            report = services.directories.import_samples_once(LOCAL_USER, on_progress=progress)
        if report is not None:
            typer.echo("The sample documents are imported.")
        # The page runs in the program's own folder, from where a relative path leads elsewhere.
        chosen = {"FOOTNOTE_DATA_DIR": str(services.imports.data_dir.resolve())}
        code = subprocess.call(command, cwd=Path(__file__).parent, env=os.environ | chosen)  # noqa: S603  # our own command
    raise typer.Exit(code)


def main() -> None:
    """Run the command; an expected error is one line on stderr, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a console of another code page lacks letters
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except AppError as error:
        typer.secho(f"Footnote: {error}", fg="red", err=True)
        sys.exit(1)


@contextmanager
def _services(data_dir: Path | None, *, tell: bool = True) -> Iterator["Services"]:
    """The services; what a person should know of the library is told on stderr first."""
    from bootstrap import build_services  # `--help` and mistyped commands need none of it
    from settings import load_settings

    try:
        chosen = {} if data_dir is None else {"data_dir": data_dir}
        services = build_services(load_settings(**chosen))
        for notice in services.library.status(LOCAL_USER).notices if tell else ():
            typer.secho(f"Footnote: {notice}", fg="yellow", err=True)
        yield services
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _progress(*, quiet: bool = False) -> Iterator["OnProgress"]:
    """A progress bar on stderr; none where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[key]}", style="dim"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, key="")

        def show(at: "Report") -> None:
            bar.update(
                task,
                description=at.stage.value,
                completed=at.done,
                total=at.total or None,
                key=at.key[-40:],
            )

        yield show


def _print_report(report: ImportReport) -> None:
    for item in report.items:
        if item.reason:
            typer.echo(f"{item.outcome.value:9} {item.location}: {item.reason}")
    counts = ", ".join(
        f"{report.count(outcome)} {outcome.value}" for outcome in Outcome if report.count(outcome)
    )
    typer.echo(
        f"Import {report.state.value}: {counts or 'nothing there'}; "
        f"{report.passages_embedded} passages embedded in {report.seconds:.1f} s."
    )
    if report.message:
        typer.echo(report.message)


def _print_turn(turn: Turn) -> None:
    if turn.standalone_question != turn.question:
        typer.secho(f"Searched for: {turn.standalone_question}", dim=True)
    typer.echo(f"{turn.answer}\n")
    for citation in turn.citations:
        place = _place(asdict(citation))
        typer.echo(f"[{citation.n}] {citation.state.value}: {citation.title} ({place})")
    if turn.unsupported_sentences:
        typer.echo(f"{turn.unsupported_sentences} sentences without support in the sources")
    typer.secho(f"{turn.model}; go on with --conversation {turn.conversation_id}", dim=True)


def _turn_as_data(turn: Turn) -> dict[str, Any]:
    return {
        "answer": turn.answer,
        "standalone_question": turn.standalone_question,
        "model": turn.model,
        "citations": [_citation_as_data(citation) for citation in turn.citations],
        "unsupported_sentences": turn.unsupported_sentences,
        "conversation_id": turn.conversation_id,
        "turn_id": turn.id,
        "state": turn.state.value,
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


def _report_as_data(report: ImportReport) -> dict[str, Any]:
    items = [{**asdict(item), "outcome": item.outcome.value} for item in report.items]
    return {**asdict(report), "state": report.state.value, "items": items}


def _place(found: dict[str, Any]) -> str:
    page = f", page {found['page']}" if found["page"] else ""
    return f"{found['location']}{page}"


def _rounded(value: str | float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _print_json(data: Any) -> None:
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(data, ensure_ascii=not is_utf8, indent=2))


_EXIT_CODES = {
    ImportState.COMPLETED_WITH_ERRORS: LOOK,
    ImportState.NEEDS_CONFIRMATION: LOOK,
    ImportState.CANCELLED: INTERRUPTED,
}


if __name__ == "__main__":
    main()
