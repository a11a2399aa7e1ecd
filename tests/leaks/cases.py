"""Random cases: a principal, a face, and what it shows."""

from typing import NamedTuple

from domain import Principal
from tests.leaks.faces import FACES, hidden_secrets
from tests.leaks.world import SecretDocument, World

CASES_PER_PERMISSIONS = 10


class Leak(NamedTuple):
    """The case in which a face showed hidden documents."""

    case: int
    face: str
    principal: Principal
    documents: list[SecretDocument]


def leaks(world: World, cases: int) -> list[Leak]:
    """The cases in which a face shows something hidden, in order.

    Raises:
        AssertionError: A face counts or names what is hidden, or treats it unlike what is missing.
    """
    found = []
    for case in range(cases):
        if case % CASES_PER_PERMISSIONS == 0:
            world.change_permissions()
        principal, face = world.principal(), world.random.choice(FACES)
        if shown := hidden_secrets(world, principal, face):
            found.append(Leak(case, face.__name__, principal, shown))
    return found
