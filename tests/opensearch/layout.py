"""Fetches OpenSearch once and lays it out in a cache outside the repository."""

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from tests.opensearch.artifacts import (
    MAVEN_PLUGIN,
    MODULES,
    PLUGINS,
    VERSION,
    Module,
    archives_project,
    artifact_of,
    jars_project,
)
from tests.opensearch.locks import lock
from tests.opensearch.programs import OpenSearchError, require_programs, run

CACHE = Path(
    os.environ.get("OPENSEARCH_CACHE") or Path.home() / ".cache" / "footnote-opensearch" / VERSION
)
LAUNCHER = Path(__file__).with_name("Launcher.java")
FETCH_S = 240
COMPILE_S = 60
LOCK_S = 2 * FETCH_S + COMPILE_S
_MANIFEST = "manifest.json"


def fetched() -> Path:
    """The folder with `core`, `modules`, `plugins`, and `launcher`; fetched if it is not there."""
    folder = CACHE / f"layout-{_recipe()}"
    if is_complete(folder):
        return folder
    require_programs()
    CACHE.mkdir(parents=True, exist_ok=True)
    with lock(CACHE / "lock", limit_s=LOCK_S):
        if not is_complete(folder):
            _build(folder)
    return folder


def is_complete(folder: Path) -> bool:
    """Whether every file of the manifest, which is written last, is there in its full size."""
    try:
        sizes = json.loads((folder / _MANIFEST).read_text("utf-8"))
        return bool(sizes) and sizes == _sizes(folder)
    except (OSError, ValueError):
        return False


def class_path(folder: Path) -> str:
    return f"{folder / 'launcher'}:{folder / 'core'}/*"


def _recipe() -> str:
    """Changes with whatever decides the contents, so that an older layout is not reused."""
    projects = (jars_project(), archives_project())
    parts = (*projects, repr(MODULES), repr(PLUGINS), LAUNCHER.read_text("utf-8"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def _build(folder: Path) -> None:
    """Build beside the folder, then rename: a folder of that name is never half-built."""
    for interrupted in CACHE.glob("building-*"):  # the lock says that nobody works on it
        shutil.rmtree(interrupted)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="building-") as temporary:
        built = Path(temporary, "layout")
        jars = _fetch(Path(temporary))
        _place_jars(jars, built)
        _unpack_plugins(jars, built / "plugins")
        _compile(built)
        (built / _MANIFEST).write_text(json.dumps(_sizes(built), indent=0), encoding="utf-8")
        if folder.exists():  # damaged
            folder.rename(Path(temporary, "damaged"))
        built.rename(folder)


def _fetch(folder: Path) -> Path:
    _copy(jars_project(), folder, "--strict-checksums")
    _copy(archives_project(), folder, "--lax-checksums")  # `_unpack_plugins` checks them
    return folder / "jars"


def _copy(project: str, folder: Path, checksums: str) -> None:
    """Copy the dependencies of a project to `jars`."""
    file = folder / "pom.xml"
    file.write_text(project, encoding="utf-8")
    command: list[str | Path] = ["mvn", "--batch-mode", "--quiet", checksums, "--file", file]
    command += [f"{MAVEN_PLUGIN}:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"]
    run(command, limit_s=FETCH_S, failure="Maven could not fetch OpenSearch")


def _place_jars(jars: Path, built: Path) -> None:
    """Move each jar to its module, or else to the core."""
    modules = {artifact: module.name for module in MODULES for artifact in module.jars}
    for jar in jars.glob("*.jar"):
        name = modules.get(artifact_of(jar.name))
        target = built / "modules" / name if name else built / "core"
        target.mkdir(parents=True, exist_ok=True)
        jar.rename(target / jar.name)
    for module in MODULES:
        _describe(module, built / "modules" / module.name)


def _describe(module: Module, folder: Path) -> None:
    present = {artifact_of(path.name) for path in folder.glob("*.jar")}
    if missing := module.jars - present:
        raise OpenSearchError(f"Maven fetched no {', '.join(sorted(missing))}")
    (folder / "plugin-descriptor.properties").write_text(module.descriptor, encoding="utf-8")


def _unpack_plugins(jars: Path, plugins: Path) -> None:
    archives = {artifact_of(path.name): path for path in jars.glob("*.zip")}
    for name, checksum in PLUGINS.items():
        if name not in archives:
            raise OpenSearchError(f"Maven fetched no {name}")
        if hashlib.sha256(archives[name].read_bytes()).hexdigest() != checksum:
            raise OpenSearchError(
                f"{archives[name].name} does not have the SHA-256 in tests/opensearch/artifacts.py:"
                " delete it from Maven's local repository, and try again"
            )
        with zipfile.ZipFile(archives[name]) as archive:
            archive.extractall(plugins / name)


def _compile(built: Path) -> None:
    command: list[str | Path] = [
        "javac",
        "-cp",
        f"{built / 'core'}/*",
        "-d",
        built / "launcher",
        LAUNCHER,
    ]
    run(command, limit_s=COMPILE_S, failure="javac could not compile the launcher")


def _sizes(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != _MANIFEST)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
