"""The layer rule of docs/architecture.md, checked against the imports."""

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
VALUES = {"domain"}
PARTS = {"chains", "retrievers", "loaders", "storage"}

ALLOWED = {
    "domain": set(),
    "settings": VALUES,
    "chains": VALUES,
    "retrievers": VALUES,
    "loaders": VALUES,
    "storage": VALUES,
    "models": VALUES,
    "services": PARTS | VALUES | {"models"},
    "bootstrap": PARTS | VALUES | {"services", "models", "settings"},
    "api": {"bootstrap", "services"} | VALUES,
    "ui": {"bootstrap", "services"} | VALUES,
    "cli": {"bootstrap", "services", "settings", "commands"} | VALUES,
    "commands": {"bootstrap", "services", "settings", "api"} | VALUES,
    "pages": {"ui"},
    "app": {"ui"},
    "footnote": {"bootstrap", "chains", "cli"} | VALUES,
}

# Packages of `domain` that do not import the rest of it.
LEAVES = {
    "domain/language": set(),
    "domain/web": {"domain/errors", "domain", "domain/messages", "domain/logs"},
}

ALLOWED_USERS = {
    "streamlit": {"app", "pages", "ui", "commands"},
    "altair": {"ui"},
    "babel": {"ui"},
    "sqlalchemy": {"storage"},
    "alembic": {"storage"},
    "deeplake": {"storage"},
    "tantivy": {"storage"},
    "opensearchpy": {"storage"},
    "botocore": {"storage"},
    "filelock": {"storage"},
    "xxhash": {"storage"},
    "cryptography": {"storage"},
    "langchain_openai": {"models"},
    "openai": {"models"},
    "httpx": {"models", "services/sign_in"},
    "jwt": {"services/sign_in"},
    "onnxruntime": {"models"},
    "onnx": {"models"},
    "tokenizers": {"models"},
    "safetensors": {"models"},
    "fastembed": {"models"},
    "pyarrow": {"loaders"},
    "pypdf": {"loaders"},
    "pypdfium2": {"loaders"},
    "docx": {"loaders"},
    "pptx": {"loaders"},
    "openpyxl": {"loaders"},
    "atlassian": {"loaders"},
    "requests": {"loaders"},
    "olefile": {"loaders"},
    "yaml": {"loaders"},
    "bs4": {"loaders"},
    "lxml": {"loaders"},
    "markdownify": {"loaders"},
    "charset_normalizer": {"loaders"},
    "ftfy": {"loaders"},
    "re2": {"loaders", "services/chat"},
    "jsonschema": {"services/chat"},
    "referencing": {"services/chat"},
    "google": {"loaders"},
    "google_auth_httplib2": {"loaders"},
    "google_auth_oauthlib": {"loaders"},
    "googleapiclient": {"loaders"},
    "httplib2": {"loaders"},
    "oauthlib": {"loaders"},
    "langchain_text_splitters": {"loaders"},
    "Stemmer": {"domain"},
    "jinja2": {"services"},
    "typer": {"cli", "commands"},
    "rich": {"commands"},
    "pydantic_settings": {"settings"},
    "langchain": {"services/agent"},
    "langgraph": {"services/agent"},
    "mcp": {"services/agent", "api/mcp"},
    "mcp_types": {"services/agent", "api/mcp"},
    "fastapi": {"api"},
    "starlette": {"api", "ui"},
    "sse_starlette": {"api"},
    "limits": {"api"},
    "uvicorn": {"commands"},
    "opentelemetry": {"bootstrap"},
    "prometheus_client": {"bootstrap"},
}


# Documents of unknown origin are parsed only in the reader process. Other modules may use these
# names of the packages that parse; loaders/document_reader.py is the way to everything else.
PARSERS = ("loaders.formats", "loaders.confluence.storage_format")
MAY_PARSE = ("loaders/formats/", "loaders/confluence/storage_format/", "loaders/reader_main.py")
DO_NOT_PARSE = {
    "loaders.confluence.storage_format.Links",
    "loaders.formats.FORMATS_VERSION",
    "loaders.formats.SUFFIXES",
    "loaders.formats.content.clean",
    "loaders.formats.content.one_line",
    "loaders.formats.embedded_files.Part",
    "loaders.formats.embedded_files.zip_parts",  # unpacks within limits, and parses nothing
    "loaders.formats.ocr",  # the settings of text recognition
    "loaders.formats.ocr.configure",
    "loaders.formats.structured_data.delimiter_of",
    "loaders.formats.suffix_of",
    "loaders.formats.titles.name_in_folder",
    "loaders.formats.unsupported",
}

OUTSIDE = {"tests", "benchmarks", "samples"}


def layer_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def product_files():
    files = [path for name in ALLOWED for path in sorted((ROOT / name).rglob("*.py"))]
    return files + [path for name in ALLOWED if (path := ROOT / f"{name}.py").exists()]


@cache
def modules_imported(path):
    """Dotted names of all modules that a file imports, including inside functions."""
    return tuple(_modules_imported(path))


def _modules_imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(path):
    """The package of a file within its layer: a subpackage, or the module itself."""
    return "/".join(path.relative_to(ROOT).with_suffix("").parts[:2])


def package_of_module(name):
    """The package of an imported module; None for third-party modules."""
    parts = name.split(".")[:2]
    is_ours = parts[0] in ALLOWED and (ROOT / parts[0]).is_dir() and len(parts) == 2
    return "/".join(parts) if is_ours else None


@cache
def package_graph():
    graph = {}
    for path in product_files():
        if path.name == "__init__.py" or path.parent == ROOT:
            continue
        package = graph.setdefault(package_of(path), set())
        imported = {package_of_module(name) for name in modules_imported(path)}
        package |= imported - {None, package_of(path)}
    return graph


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_layers_import_only_from_layers_below(path):
    layer = layer_of(path)
    for name in {name.split(".")[0] for name in modules_imported(path)} - {layer}:
        if name in ALLOWED:
            assert name in ALLOWED[layer], f"{layer} must not import {name}"
        users = ALLOWED_USERS.get(name, {layer})
        assert {layer, package_of(path)} & users, f"only {users} may import {name}"


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_are_parsed_only_in_the_reader_process(path):
    if path.relative_to(ROOT).as_posix().startswith(MAY_PARSE):
        return
    names = {name for name in modules_imported(path) if f"{name}.".startswith(PARSERS)}
    assert names <= DO_NOT_PARSE, "use loaders.document_reader"


def test_the_program_of_the_reader_process_is_never_imported():
    imported = {name for path in product_files() for name in modules_imported(path)}
    assert not {name for name in imported if name.startswith("loaders.reader_main")}


def test_packages_have_no_import_cycles():
    graph = package_graph()
    assert len(graph) > 30
    assert list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the cycle


@pytest.mark.parametrize("package", LEAVES)
def test_domain_leaf_packages_import_no_other_package(package):
    assert package_graph()[package] <= LEAVES[package]


def test_the_cycle_check_detects_a_cycle():
    with pytest.raises(ValueError, match="cycle"):
        list(TopologicalSorter({"a": {"b"}, "b": {"a"}}).static_order())


def test_every_product_module_belongs_to_a_layer():
    layers = {*ALLOWED, *OUTSIDE}
    outside = [path.name for path in ROOT.glob("*.py") if layer_of(path) not in layers]
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert not outside
    assert folders <= layers


def test_the_top_level_of_the_repository_stays_small():
    paths = [
        path
        for path in ROOT.iterdir()
        if not path.name.startswith(("__", "data", "benchmarks.json"))
    ]
    folders = [path.name for path in paths if path.is_dir() and not path.name.startswith(".")]
    files = [path.name for path in paths if path.is_file() and not path.name.startswith(".")]
    assert len(folders) <= 17, sorted(folders)
    assert len(files) <= 10, sorted(files)


def test_no_file_is_longer_than_400_lines():
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in product_files()}
    assert {str(path): n for path, n in lengths.items() if n > 400} == {}


def test_modules_have_distinct_names():
    """An editor tab shows only the file name."""
    paths_by_name = {}
    for path in product_files():
        if path.name != "__init__.py":
            paths_by_name.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in paths_by_name.items() if len(paths) > 1} == {}
