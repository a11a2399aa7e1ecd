"""`cli.py search`: passages without an answer, and why each was found."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.running import AsJson, DataDir, open_services, print_json, spare_threads
from domain import LOCAL_USER, Explanation, Filter, Move, Scope, ScorePart, SearchMode

if TYPE_CHECKING:
    from langchain_core.documents import Document


def search(
    query: str,
    mode: Annotated[SearchMode | None, typer.Option(help="How to search")] = None,
    k: Annotated[int, typer.Option("-k", min=1, max=1000, help="How many passages")] = 5,
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
        list[str] | None, typer.Option(help="Only with this label; repeatable, any will do")
    ] = None,
    since: Annotated[str, typer.Option(help="Changed on this day or later: 2026-11-21")] = "",
    until: Annotated[str, typer.Option(help="Changed on this day or before")] = "",
    rerank: Annotated[
        bool | None,
        typer.Option("--rerank/--no-rerank", help="Put the best first with the reranker, or don't"),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell why each passage was found")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Find passages without answering."""
    scope = Scope(source or (), collection or (), file_format or (), label or (), since, until)
    spare_threads()
    with open_services(data_dir) as services:
        condition = services.search.condition(LOCAL_USER, scope)
        found = services.search.search(
            LOCAL_USER, query, mode=mode, k=k, condition=condition, rerank=rerank
        )
    _warn_if_not_reranked(found)
    explained = _explained(query, found, condition) if explain else [None] * len(found)
    if as_json:
        print_json([_as_data(hit, why) for hit, why in zip(found, explained, strict=True)])
        return
    for n, (hit, why) in enumerate(zip(found, explained, strict=True), start=1):
        _print_hit(n, hit, why)
    if not found:
        typer.echo("Nothing found.")


def place(found: dict[str, Any]) -> str:
    """Where a passage stands: the location of its document and its page."""
    page = f", page {found['page']}" if found["page"] else ""
    return f"{found['location']}{page}"


def _warn_if_not_reranked(found: "list[Document]") -> None:
    reason = found[0].metadata.get("rerank", {}).get("skipped") if found else None
    if reason:
        typer.secho(f"Footnote: Not reranked. {reason}", fg="yellow", err=True)


def _explained(query: str, found: "list[Document]", condition: Filter) -> list[Explanation | None]:
    from services.explain import explain  # slow, and `--help` needs none of it

    return [explain(query, hit, condition) for hit in found]


def _as_data(hit: "Document", why: Explanation | None) -> dict[str, Any]:
    data = {
        "id": hit.id,
        "score": hit.metadata["score"],
        "text": hit.page_content,
        **hit.metadata,
    }
    return data if why is None else data | {"explanation": _explanation_as_data(why)}


def _explanation_as_data(why: Explanation) -> dict[str, Any]:
    parts = [part._asdict() for part in why.parts]
    return asdict(why) | {"parts": parts, "move": why.move and why.move._asdict()}


def _print_hit(n: int, hit: "Document", why: Explanation | None) -> None:
    known = hit.metadata
    typer.secho(f"{n}. {known['title']}  ({place(known)}, {known['score']:.3f})", bold=True)
    typer.echo(f"   {' '.join(hit.page_content.split())[:300]}")
    for line in _told(why) if why else ():
        typer.secho(f"   {line}", dim=True)
    typer.echo()


def _told(why: Explanation) -> list[str]:
    lines = [_part(part) for part in why.parts]
    if why.matched_words:
        lines.append(f"matched words: {', '.join(why.matched_words)}")
    if why.move:
        lines.append(_move(why.move))
    if why.condition:
        lines.append(f"filter: {dict(why.condition)}")
    return lines


def _part(part: ScorePart) -> str:
    if part.rank is None:
        return f"{part.ranker}: not in this list, share {part.share:.4f}"
    return f"{part.ranker}: rank {part.rank}, score {part.score:.4f}, share {part.share:.4f}"


def _move(move: Move) -> str:
    if move.skipped:
        return f"not reranked: {move.skipped}"
    return f"reranked: from rank {move.rank_before} to {move.rank}, score {move.score:.4f}"
