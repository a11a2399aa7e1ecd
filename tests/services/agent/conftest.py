import pytest


@pytest.fixture
def services(imported, handbook):
    """Real services over the handbook, with the loopback server as their chat model."""
    return imported(chat=True, embed=True)


@pytest.fixture
def extractive(imported, handbook):
    """Real services over the handbook, without a chat model."""
    return imported(embed=True)
