"""The alias that names the current index of a library, and the deletion of indexes."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from domain.messages import _
from storage.opensearch.connection import SearchServerError, client_errors

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


def require_usable_name(client: "OpenSearch", alias: str, own_indexes: Collection[str]) -> None:
    """Make sure that the alias does not exist, or points only to these indexes.

    Raises:
        SearchServerError: It names an index, or belongs to another library or program.
    """
    _own_targets(client, alias, own_indexes)


def point_alias(client: "OpenSearch", alias: str, index: str, own_indexes: Collection[str]) -> None:
    """Make the alias point only to this index, in one step; other indexes of ours lose it.

    Raises:
        SearchServerError: The alias is not usable, or the index is missing.
    """
    targets = _own_targets(client, alias, {*own_indexes, index})
    if targets == {index}:
        return
    removals = [{"remove": {"index": old, "alias": alias}} for old in sorted(targets - {index})]
    addition = {"add": {"index": index, "alias": alias}}
    with client_errors():
        client.indices.update_aliases(body={"actions": [*removals, addition]})


def delete_index(client: "OpenSearch", name: str) -> None:
    """Delete an index with its passages; a missing one is ignored."""
    with client_errors():
        client.indices.delete(index=name, ignore_unavailable=True)


def _own_targets(client: "OpenSearch", alias: str, own_indexes: Collection[str]) -> set[str]:
    """The indexes to which the alias points, which must be among ours."""
    found = _indexes_of(client, alias)
    if alias in found:
        raise SearchServerError(
            _(
                "{name} is the name of an index on the OpenSearch server, so it can't be an alias:"
                " choose another FOOTNOTE_SEARCH_INDEX, or delete that index."
            ).format(name=alias)
        )
    targets = set(found)
    if foreign := sorted(targets - set(own_indexes)):
        raise SearchServerError(
            _(
                "The alias {name} on the OpenSearch server belongs to another library or program"
                " (its index is {index}): choose another FOOTNOTE_SEARCH_INDEX."
            ).format(name=alias, index=", ".join(foreign))
        )
    return targets


def _indexes_of(client: "OpenSearch", name: str) -> Mapping[str, Any]:
    """The indexes of this name or alias, by their names."""
    with client_errors():
        found: Mapping[str, Any] = client.indices.get_alias(index=name, ignore_unavailable=True)
    return found
