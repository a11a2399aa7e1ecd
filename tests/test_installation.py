"""The wheel, installed next to all other packages and run from a folder with hostile modules."""

import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import httpx
import pytest

from tests.browser.program import running
from tests.test_architecture import ALLOWED, OUTSIDE, ROOT

NAMES = {*ALLOWED} - {"footnote"}
SHIPPED = {*NAMES, "samples"}
WAIT_S = 120
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_no_name_is_that_of_a_module_of_python_or_of_an_installed_package():
    """So the `footnote` command, which finds its own modules first, hides none of them."""
    installed = packages_distributions()
    assert len(installed) > 100
    own = {"footnote"}  # in an environment in which Footnote itself is installed
    others = {name for name, distributions in installed.items() if {*distributions} - own}
    assert (SHIPPED | own) & (others | sys.stdlib_module_names) == set()


def test_every_layer_is_in_the_wheel_and_nothing_else():
    included = CONFIG["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert {name.removesuffix(".py") for name in included} == {*SHIPPED, ".streamlit"}
    assert {"tests", "benchmarks"} == OUTSIDE - {"samples"}


def test_the_pinned_packages_are_those_that_the_project_requires():
    lines = (ROOT / "requirements.in").read_text(encoding="utf-8").splitlines()
    required = [line for line in lines if line and not line.startswith("#")]
    required += CONFIG["project"]["optional-dependencies"]["minilm"]
    pinned = re.findall(
        r"^([\w.-]+)==", (ROOT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE
    )
    names = {re.match(r"[\w.-]+", line)[0] for line in required}
    assert names <= {*pinned}
    assert "torch" not in pinned


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling", reason="hatchling is not installed: make test installs it")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet", "-w", str(folder)]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", *options, str(ROOT)], check=True)
    [file] = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """The interpreter of a new environment with the wheel and the packages of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", interpreter]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", "--quiet", wheel], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    assert {path.name.split("-")[0] for path in packages.iterdir()} == {"footnote"}
    (packages / "tests.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return interpreter


@pytest.fixture
def desk(tmp_path, model_cache):
    """A folder with modules of the same names, which fail when they are imported."""
    folder = tmp_path / "desk"
    folder.mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    for name in NAMES - {"models", "pages"}:
        (folder / f"{name}.py").write_text("raise SystemExit('the wrong module')\n")
    (folder / "models").mkdir()
    (folder / "models" / "__init__.py").write_text("raise SystemExit('the wrong module')\n")
    return folder


@pytest.fixture
def run(python, desk, tmp_path):
    def run(*command, code=0, cwd=desk):
        result = subprocess.run(
            [python.parent / command[0], *command[1:]],
            cwd=cwd,
            env=_environment(tmp_path),
            capture_output=True,
            encoding="utf-8",
            timeout=WAIT_S,
        )
        assert result.returncode == code, result.stdout + result.stderr
        return result

    return run


def _environment(folder):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "FOOTNOTE_DATA_DIR": str(folder / "data"),
    }


@pytest.mark.slow
def test_the_wheel_has_every_file_of_the_product(wheel):
    files = {
        path.relative_to(ROOT).as_posix()
        for name in (*SHIPPED, ".streamlit")
        for path in [ROOT / f"{name}.py", *(ROOT / name).rglob("*")]
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == {"footnote/__init__.py", *(f"footnote/{name}" for name in files)}
    kinds = {Path(name).suffix for name in names}
    assert {".po", ".css", ".js", ".toml", ".svg", ".npy", ".j2", ".pdf", ".json"} <= kinds


@pytest.mark.slow
def test_the_command_imports_and_answers_next_to_hostile_modules(run, handbook):
    run("footnote", "import", handbook)
    answer = run("footnote", "ask", "How many days of annual leave do new employees get?")
    assert "25 days" in answer.stdout
    assert 'Continue it with: footnote ask --continue "QUESTION"' in answer.stdout
    assert "all agree" in run("footnote", "check").stdout
    wrong = run("footnote", "evaluate-catalog", "--catalog", "x", code=2).stderr
    assert "footnote evaluate-catalog QUESTIONS" in " ".join(wrong.replace("│", "").split())


@pytest.mark.slow
def test_messages_of_services_name_the_installed_command(run, handbook, tmp_path):
    run("footnote", "import", handbook)
    for index in (tmp_path / "data" / "indexes").iterdir():
        index.rename(tmp_path / index.name)
    result = run("footnote", "search", "WireGuard", code=1)
    assert "`footnote reindex`" in result.stderr
    assert "cli.py" not in result.stderr


@pytest.mark.slow
def test_the_pages_and_the_worker_start_next_to_hostile_modules(python, desk, tmp_path, run):
    (desk / ".env").write_text("FOOTNOTE_ALLOWED_HOSTS=desk.example\n")
    footnote = [str(python.parent / "footnote")]
    with running(_environment(tmp_path), footnote=footnote, cwd=desk) as program:
        page = httpx.get(f"{program.address}/", headers={"Host": "desk.example"})
        assert "<title>" in page.text
    assert "leave-policy.md" in run("footnote", "search", "annual leave").stdout


USE = """
import sys
import footnote
before = list(sys.path)
library = footnote.open()
print(library.ask("How many days of annual leave do new employees get?").answer)
print(library.chain().invoke("Which gateway?")["answer"])
print(footnote.ConversationalRetrievalChain.__module__)
print([one for one in sys.path if one not in before])
"""


@pytest.mark.slow
def test_a_program_opens_the_library_next_to_its_own_modules(run, handbook, tmp_path):
    run("footnote", "import", handbook)
    own = tmp_path / "own"
    (own / "models").mkdir(parents=True)  # weights, no module
    for name in ("api", "app", "ui"):
        (own / f"{name}.py").write_text("")
    (own / "use.py").write_text(f"import api, app\n{USE}\nimport ui\nprint(ui.__file__)")
    result = run("python", "use.py", cwd=own)
    *answers, module, folders, ui = result.stdout.strip().splitlines()
    assert "25 days" in answers[0]
    assert "Bristol" in answers[-1]
    assert module == "chains.conversational_retrieval"
    assert re.fullmatch(r"\['[^']*site-packages/footnote'\]", folders)
    assert ui == str(own / "ui.py")


@pytest.mark.slow
@pytest.mark.parametrize("is_loaded", [True, False])
def test_a_module_that_footnote_needs_is_reported_instead_of_replaced(run, tmp_path, is_loaded):
    own = tmp_path / "own"
    own.mkdir()
    (own / "settings.py").write_text("")
    first = "import settings" if is_loaded else ""
    (own / "use.py").write_text(f"{first}\nimport footnote\nfootnote.open('.', create=True)")
    result = run("python", "use.py", code=1, cwd=own)
    assert "ImportError: Footnote and this program both have a module `settings`" in result.stderr
    assert str(own / "settings.py") in result.stderr
    assert {path.name for path in own.iterdir()} - {"__pycache__"} == {"settings.py", "use.py"}


@pytest.mark.slow
def test_packages_can_only_be_imported_under_one_name(run):
    result = run("python", "-c", "import footnote.chains", code=1)
    assert "No module named 'footnote.chains'" in result.stderr
    nothing = run("python", "-c", "import storage", code=1, cwd=Path("/"))
    assert "No module named 'storage'" in nothing.stderr
