"""A clean environment for every test, and real services over a temporary data folder."""

import gc
import logging
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

import bootstrap
from domain import LOCAL_USER
from settings import load_settings
from tests import shared_work
from tests.fakes.command_line import CommandLine
from tests.fakes.loopback import LOOPBACK_SOURCES
from tests.fakes.openai import EMBEDDING_MODEL, MODEL, serving
from tests.fakes.restaurants import import_restaurants, write_restaurants
from tests.imported_library import ImportedLibraries, is_handbook, is_new, write_handbook
from tests.postgresql.ledgers import LEDGERS

pytest_plugins = (
    "tests.crash_reports",
    "tests.opensearch.fixtures",
    "tests.postgresql.fixtures",
    "tests.s3.fixtures",
)

TEST_CLIENT = "testserver"
"""The host name that Starlette's test client sends."""

# Example durations depend more on the machine than on the code.
settings.register_profile("footnote", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)  # for `make test`
settings.load_profile("footnote")


LIMIT = pytest.StashKey()
gc.disable()  # until all tests are collected, which creates objects that stay


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """Two more than the cores: tests wait for subprocesses, servers, and time limits."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 2


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put files with slow tests first: if one starts last, the other processes wait for it."""
    slow_files = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow_files)


def pytest_collection_finish():
    """Exempt modules and tests from garbage collection, and collect other garbage rarely."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_timeout_set_timer(item, settings):
    """Repeat the alarm, because `__del__` or a broad `except` may swallow the first exception."""
    item.stash[LIMIT] = settings
    has_timer = yield
    if settings.method == "signal":
        signal.setitimer(signal.ITIMER_REAL, settings.timeout, settings.timeout)
    return has_timer


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item, call):
    """Lift the limit before pytest formats a failure: interrupting that ends the whole run."""
    if call.excinfo:
        item.config.hook.pytest_timeout_cancel_timer(item=item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Give the teardown its own limit: a failure lifts that of the test."""
    if LIMIT in item.stash:
        item.config.hook.pytest_timeout_set_timer(item=item, settings=item.stash[LIMIT])
    return (yield)


@pytest.fixture(scope="session", autouse=True)
def _shared_work(model_cache):
    with pytest.MonkeyPatch.context() as monkeypatch:
        shared_work.share(monkeypatch, model_cache)
        yield


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "FOOTNOTE_", "LANGSMITH_", "LANGCHAIN_")):
            monkeypatch.delenv(name)
    for name, value in LOOPBACK_SOURCES.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def _restore_umask():
    """Restore the shell's umask before each test; building services changes it."""
    umask = os.umask(0o022)
    yield
    os.umask(umask)


@pytest.fixture(autouse=True)
def _restore_log_level():
    """Restore the level of the program's logger; building services changes it."""
    program = logging.getLogger("footnote")
    level = program.level
    yield
    program.setLevel(level)


@pytest.fixture(autouse=True)
def _restore_main():
    """Restore the main module, which Streamlit replaces by a page; new processes would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture
def model_server():
    """A scripted OpenAI-compatible server on loopback."""
    with serving() as running:
        yield running


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory):
    """The cache of the built-in embedding's graph, built once for all tests and test processes."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return tmp_path_factory.mktemp("cache")
    shared = tmp_path_factory.getbasetemp().parent / "cache"
    shared.mkdir(exist_ok=True)
    return shared


@pytest.fixture
def make_settings(tmp_path, model_server, model_cache):
    """A factory of settings, with a data folder of this test.

    `chat=True` sends chat requests to the loopback server, and `embed=True` embedding requests:
    its vectors have no meaning but are fast and pass through the real client.
    """

    def make_settings(*, chat=False, embed=False, **settings):
        data_dir = tmp_path / "data"
        data_dir.mkdir(exist_ok=True)
        if not (data_dir / "cache").exists():
            (data_dir / "cache").symlink_to(model_cache)
        endpoint = {"openai_base_url": model_server.url, "chat_model": MODEL} if chat else {}
        embedding = {
            "embedding_provider": "openai",
            "embedding_model": EMBEDDING_MODEL,
            "embedding_base_url": model_server.url,
        }
        always = {"data_dir": data_dir, "allowed_hosts": TEST_CLIENT}
        if url := LEDGERS.url(settings.get("data_dir", data_dir)):
            always["database_url"] = url
        return load_settings(**{**always, **(embedding if embed else {}), **endpoint, **settings})

    return make_settings


@pytest.fixture
def build_services(make_settings):
    """A factory of real services with the settings of `make_settings`."""

    def build(**settings):
        return bootstrap.build_services(make_settings(**settings))

    return build


@pytest.fixture(scope="session")
def documents_path(tmp_path_factory):
    return tmp_path_factory.mktemp("documents") / "files"


@pytest.fixture
def documents_folder(documents_path):
    """A folder for documents with the same path in all tests, which is empty in each."""
    shutil.rmtree(documents_path, ignore_errors=True)  # a test before may have been interrupted
    documents_path.mkdir()
    yield documents_path
    shutil.rmtree(documents_path)


@pytest.fixture
def handbook(documents_folder):
    """A small folder to import."""
    write_handbook(documents_folder / "handbook")
    return documents_folder / "handbook"


@pytest.fixture
def restaurants(documents_folder):
    """The folder of a catalog of four restaurants."""
    write_restaurants(documents_folder / "restaurants")
    return documents_folder / "restaurants"


@pytest.fixture
def line(tmp_path, model_cache):
    """A runner of commands with a data folder, prebuilt models, and an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    return CommandLine(tmp_path / "data", home)


@pytest.fixture(scope="session")
def imported_libraries(tmp_path_factory, model_cache):
    return ImportedLibraries(tmp_path_factory.mktemp("imported"), model_cache)


@pytest.fixture
def imported(make_settings, handbook, imported_libraries):
    """A factory of services over a library with the handbook.

    `restaurants` is the folder of a catalog to import as well.
    """

    def build(*, restaurants=None, **settings):
        def fill(services):
            services.directories.import_directory(LOCAL_USER, handbook)
            if restaurants:
                import_restaurants(services, restaurants)

        settings = make_settings(**settings)
        if is_new(settings) and is_handbook(handbook):
            contents = f"handbook, {restaurants}"
            return imported_libraries.build(settings, contents, fill)
        services = bootstrap.build_services(settings)
        fill(services)
        return services

    return build


@pytest.fixture
def imported_restaurants(make_settings, restaurants, imported_libraries):
    """A factory of services over a library with the catalog of restaurants only."""

    def build(**settings):
        def fill(services):
            import_restaurants(services, restaurants)

        return imported_libraries.build(make_settings(**settings), "restaurants", fill)

    return build


@pytest.fixture
def imported_samples(make_settings, imported_libraries):
    """A factory of services over a library with the sample documents."""

    def build(**settings):
        def fill(services):
            services.directories.import_samples(LOCAL_USER)

        return imported_libraries.build(make_settings(**settings), "samples", fill)

    return build


@pytest.fixture
def unprivileged_folder():
    """A folder that an ordinary user may write to, while the test runs as that user."""
    root = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    root.chmod(0o777)
    if is_root:
        os.seteuid(65534)
    yield root
    if is_root:
        os.seteuid(0)
    for path in root.iterdir():
        path.chmod(0o777)
    shutil.rmtree(root)
