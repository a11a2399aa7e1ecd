import pytest

from domain import LOCAL_USER


@pytest.fixture
def services(build_services, handbook):
    """Real services over the handbook, with the loopback server as their chat model."""
    services = build_services(chat=True, embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def extractive(build_services, handbook):
    """Real services over the handbook, without a chat model."""
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services
