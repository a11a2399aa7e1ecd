"""How many examples a property test tries."""

from hypothesis import settings

QUICK = 25
"""The number of examples of property tests in `make test`; see tests/conftest.py."""


def examples(most: int) -> int:
    """The number for a property test that needs `most` examples, or `QUICK` in `make test`."""
    is_quick = settings.get_current_profile_name() == "quick"
    return min(most, QUICK) if is_quick else most
