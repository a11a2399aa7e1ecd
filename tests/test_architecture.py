"""The layer rule of docs/architecture.md, read from the imports."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VALUES = {"domain", "errors"}
LEAVES = VALUES | {"language"}
PARTS = {"chains", "retrievers", "loaders", "storage"}

ALLOWED = {
    "domain": set(),
    "errors": set(),
    "language": set(),
    "settings": {"web"} | VALUES,
    "web": VALUES,
    "chains": LEAVES,
    "retrievers": LEAVES,
    "loaders": LEAVES,
    "storage": LEAVES,
    "models": LEAVES,
    "evaluation": LEAVES,
    "services": PARTS | LEAVES | {"evaluation"},
    "agent": {"services", "chains", "web"} | LEAVES,
    "catalog": PARTS | LEAVES | {"services", "evaluation"},
    "bootstrap": PARTS | LEAVES | {"services", "models", "settings", "agent", "catalog", "web"},
    "api": {"bootstrap", "services", "catalog", "web"} | VALUES,
    "ui": {"bootstrap", "services", "catalog", "web"} | VALUES,
    "cli": {"bootstrap", "services", "settings", "commands"} | VALUES,
    "commands": {"bootstrap", "services", "settings", "agent", "api", "catalog", "web"} | VALUES,
    "pages": {"ui"},
    "app": {"ui"},
}

HOME = {
    "streamlit": {"app", "pages", "ui", "commands"},
    "altair": {"ui"},
    "babel": {"ui"},
    "sqlalchemy": {"storage"},
    "alembic": {"storage"},
    "deeplake": {"storage"},
    "tantivy": {"storage"},
    "filelock": {"storage"},
    "xxhash": {"storage"},
    "cryptography": {"storage"},
    "langchain_openai": {"models"},
    "openai": {"models"},
    "httpx": {"models"},
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
    "google": {"loaders"},
    "google_auth_httplib2": {"loaders"},
    "google_auth_oauthlib": {"loaders"},
    "googleapiclient": {"loaders"},
    "httplib2": {"loaders"},
    "oauthlib": {"loaders"},
    "langchain_text_splitters": {"loaders"},
    "Stemmer": {"language"},
    "typer": {"cli", "commands"},
    "rich": {"commands"},
    "pydantic_settings": {"settings"},
    "langchain": {"agent"},
    "langgraph": {"agent"},
    "mcp": {"agent"},
    "fastapi": {"api"},
    "starlette": {"api", "ui"},
    "sse_starlette": {"api"},
    "limits": {"api"},
    "uvicorn": {"commands"},
}


def layer_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def product_files():
    files = [path for name in ALLOWED for path in sorted((ROOT / name).rglob("*.py"))]
    return files + [path for name in ALLOWED if (path := ROOT / f"{name}.py").exists()]


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield (node.module or "").split(".")[0]


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_layer_imports_only_what_lies_below_it(path):
    layer = layer_of(path)
    for name in set(imports_of(path)) - {layer}:
        if name in ALLOWED:
            assert name in ALLOWED[layer], f"{layer} must not import {name}"
        assert layer in HOME.get(name, {layer}), f"{name} has its home in {HOME[name]}"


def test_every_python_file_of_the_product_belongs_to_a_layer():
    known = {*ALLOWED, "tests", "benchmarks", "fitting", "sample_catalogues"}
    outside = [path.name for path in ROOT.glob("*.py") if layer_of(path) not in known]
    folders = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    assert not outside
    assert set(folders) <= known
