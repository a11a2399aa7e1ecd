"""A clean environment for every test, and real services over a temporary data folder."""

import os
import shutil
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

pytest_plugins = ("tests.opensearch.fixtures",)

TEST_CLIENT = "testserver"
"""The host name that Starlette's test client sends."""

# Example durations depend more on the machine than on the code.
settings.register_profile("footnote", deadline=None)
settings.register_profile("quick", deadline=None, max_examples=25)  # for `make test`
settings.load_profile("footnote")


LIMIT = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """One more than the cores: tests wait for subprocesses, servers, and time limits."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (cores or 1) + 1


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item, settings):
    item.stash[LIMIT] = settings


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Give the teardown its own limit: pytest-timeout lifts it after a test has failed."""
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
def build_services(tmp_path, model_server, model_cache):
    """A factory of real services.

    `chat=True` sends chat requests to the loopback server, and `embed=True` embedding requests:
    its vectors have no meaning but are fast and pass through the real client.
    """

    def build(*, chat=False, embed=False, **settings):
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
        values = {**always, **(embedding if embed else {}), **endpoint, **settings}
        return bootstrap.build_services(load_settings(**values))

    return build


@pytest.fixture
def handbook(tmp_path):
    """A small folder to import."""
    folder = tmp_path / "handbook"
    folder.mkdir()
    pages = {
        "leave.md": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual "
        "leave a year. Unused days lapse on 31 March.\n\n## Sick leave\n\nTell your lead "
        "before ten o'clock.\n",
        "vpn.md": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.\n",
        "휴가.md": "# 휴가 규정\n\n신규 입사자는 첫해에 연차 15일을 받습니다. "
        "2년차부터는 16일입니다.\n",
        "休暇.md": "# 休暇規程\n\n新入社員には年次有給休暇が12日付与されます。\n",
    }
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def line(tmp_path, model_cache):
    """A runner of commands with a data folder, prebuilt models, and an empty home."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    return CommandLine(tmp_path / "data", home)


@pytest.fixture
def imported(build_services, handbook):
    """A factory of services over a library with the handbook."""

    def build(**settings):
        services = build_services(**settings)
        services.directories.import_directory(LOCAL_USER, handbook)
        return services

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
