"""The files of deploy/, and what the tests of several of them need."""

import re
import tomllib

import yaml

from tests.test_architecture import ROOT

DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "footnote"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROGRAMS = ("pages", "api", "worker")
"""The processes of Footnote, which are services of the compose file and components of the chart."""


def image_files():
    """The paths that .dockerignore lets into the image."""
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert "*" in lines, "nothing else is copied"
    return {line.removeprefix("!") for line in lines if line.startswith("!")}


def chart_template(name):
    return (CHART / "templates" / name).read_text(encoding="utf-8")


def chart_command(component):
    """The command of a component, from the list in its template."""
    listed = re.search(r"\$command := list ([^}]*?) -}}\s*{{- include", chart_template(component))
    return re.findall(r'"([^"]*)"', listed[1])
