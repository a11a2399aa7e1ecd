"""The image, the compose file, the proxy, and the chart agree with the program and each other."""

import importlib.util
import re

import pytest
import typer
import yaml
from dotenv import dotenv_values

from cli import app
from settings import Settings
from tests.deploy.files import (
    CHART,
    COMPOSE,
    DEPLOY,
    DOCKERFILE,
    NGINX,
    PROGRAMS,
    PROJECT,
    ROOT,
    SERVICES,
    chart_command,
    chart_template,
    image_files,
)

VARIABLES = {
    str(field.validation_alias or f"FOOTNOTE_{name.upper()}")
    for name, field in Settings.model_fields.items()
}
VERSION = PROJECT["project"]["version"]


def deployment_texts():
    paths = [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".md"]
    return {path: path.read_text(encoding="utf-8") for path in paths}


def test_every_variable_is_a_setting():
    used = {
        name
        for text in deployment_texts().values()
        for name in re.findall(r"\b(?:FOOTNOTE|OPENAI)_[A-Z0-9_]*[A-Z0-9]\b", text)
    }
    assert len(used) > 10
    assert used <= VARIABLES


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_command_exists(program):
    for command in (SERVICES[program]["command"], chart_command(f"{program}.yaml")):
        match command:
            case ["python", "-m", module, *_]:
                assert importlib.util.find_spec(module)
            case ["python", "cli.py", name, *options]:
                known = typer.main.get_command(app).commands[name]
                declared = {option for one in known.params for option in one.opts}
                assert {one for one in options if one.startswith("--")} <= declared
            case _:
                pytest.fail(f"unknown command {command}")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_chart_and_the_compose_file_run_the_same_commands(program):
    assert chart_command(f"{program}.yaml") == SERVICES[program]["command"]


def test_the_image_runs_the_pages_by_default():
    assert f"CMD {SERVICES['pages']['command']}".replace("'", '"') in DOCKERFILE


def test_ports_agree():
    pages = SERVICES["pages"]["command"][-1].partition("=")[2]
    program = SERVICES["api"]["command"][-1]
    assert f"EXPOSE {pages} {program}" in DOCKERFILE
    assert f"server pages:{pages} resolve;" in NGINX
    assert f"server api:{program} resolve;" in NGINX
    for component, port in (("pages", pages), ("api", program)):
        assert f"127.0.0.1:{port}/" in SERVICES[component]["healthcheck"]["test"][-1]
        assert {port} == {*re.findall(r'"port" (\d+)', chart_template(f"{component}.yaml"))}
        assert f"port: {port}" in chart_template("networkpolicy.yaml")
    metrics = SERVICES["worker"]["environment"]["FOOTNOTE_WORKER_METRICS_PORT"]
    assert f"127.0.0.1:{metrics}/metrics" in SERVICES["worker"]["healthcheck"]["test"][-1]
    assert f"127.0.0.1:{metrics}/metrics" in chart_template("worker.yaml")
    assert f'value: "{metrics}"' in chart_template("_helpers.tpl")


def test_the_proxy_and_the_chart_expose_the_same_paths_of_the_api():
    proxied = re.search(r"location ~ \^/\(([^)]*)\)", NGINX)[1].split("|")
    listed = re.search(r'"api" \(list ([^)]*)\)', chart_template("ingress.yaml"))[1]
    assert {f"/{path}" for path in proxied} == {*re.findall(r'"([^"]*)"', listed)}


def test_versions_agree():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert chart["appVersion"] == VERSION
    assert f"ARG VERSION={VERSION}" in DOCKERFILE
    assert {SERVICES[program]["image"] for program in PROGRAMS} == {f"footnote:{VERSION}"}


def test_every_image_has_a_version():
    images = [service["image"] for service in SERVICES.values()]
    images += re.findall(r"^(?:ARG BASE=|FROM (?!\$))(\S+)", DOCKERFILE, re.MULTILINE)
    assert len(images) > 8
    for image in images:
        assert re.search(r":\d+\.\d+", image), image
        assert "latest" not in image


def test_the_image_is_built_from_the_files_of_the_wheel():
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    others = {"pyproject.toml", "requirements.txt", "deploy/requirements.txt"}
    assert image_files() == {*wheel, *others}


def test_the_image_has_pinned_packages_with_hashes():
    assert "--no-deps --require-hashes --only-binary=:all:" in DOCKERFILE
    pins = [
        dict(re.findall(r"^([\w.-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in (ROOT / "requirements.txt", DEPLOY / "requirements.txt")
    ]
    shared = pins[0].keys() & pins[1].keys()
    assert {name: pins[0][name] for name in shared} == {name: pins[1][name] for name in shared}
    assert {"psycopg-binary", "opentelemetry-exporter-otlp-proto-http", "botocore"} <= pins[
        1
    ].keys()


def test_the_image_has_the_extras_for_servers():
    lines = (DEPLOY / "requirements.in").read_text(encoding="utf-8").splitlines()
    extras = PROJECT["project"]["optional-dependencies"]
    required = [line for line in lines if not line.startswith("#")]
    assert required == [*extras["postgresql"], *extras["otel"], *extras["s3"]]


def test_secrets_have_no_default():
    example = dotenv_values(DEPLOY / ".env.example")
    assert example == {"POSTGRES_PASSWORD": "", "FOOTNOTE_ENCRYPTION_KEY": ""}
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    for name in example:
        uses = re.findall(rf"\${{{name}[^}}]*", text)
        assert uses
        assert all(use.startswith(f"${{{name}:?") for use in uses), "the start fails without it"
    assert not re.search(r"^(ARG|ENV) .*(PASSWORD|SECRET|KEY|TOKEN)", DOCKERFILE, re.MULTILINE)


def test_only_the_proxy_can_be_reached_and_only_from_this_machine():
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert published == {"proxy": ["${PROXY_ADDRESS:-127.0.0.1:8080}:8080"]}
    assert COMPOSE["networks"]["back"] == {"internal": True}
    stores = [name for name in SERVICES if name.startswith(("postgres", "search"))]
    assert {tuple(SERVICES[name]["networks"]) for name in stores} == {("back",)}
    assert SERVICES["proxy"]["networks"] == ["front"]
