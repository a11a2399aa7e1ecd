import pytest

from domain import LOCAL_USER


@pytest.fixture
def services(build_services, handbook):
    """The real services over the handbook, the loopback server as their model."""
    services = build_services(chat=True, embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


@pytest.fixture
def extractive(build_services, handbook):
    """The same without a chat model."""
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, handbook)
    return services
