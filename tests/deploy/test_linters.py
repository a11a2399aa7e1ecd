"""hadolint, Docker Compose, Helm, and Kubernetes' own schemas accept the files of deploy/."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.files import CHART, DEPLOY, PROGRAMS, ROOT

pytestmark = pytest.mark.slow

TOOLS = ROOT / ".venv-deploy"
HELM = Path.home() / ".cache" / "footnote-helm" / "v3.19.2" / "helm"
"""Built by `make helm`; the Makefile has the same version."""
KUBERNETES = ("1.27", "1.37")
VALUES = ("minimal", "full", "bucket")
SECRETS = {"POSTGRES_PASSWORD": "p", "FOOTNOTE_ENCRYPTION_KEY": "k"}


def tool(pattern):
    """A program of `make .venv-deploy/.ready`."""
    found = next(TOOLS.glob(pattern), None)
    if found is None:
        pytest.skip(f"{pattern} is missing: make .venv-deploy/.ready installs it")
    return str(found)


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def helm(*arguments):
    if not HELM.exists():
        pytest.skip("Helm is missing: make helm builds it, with Go")
    return run(HELM, *arguments)


def values(name):
    return str(CHART / "ci" / f"{name}-values.yaml")


def template(name, *options, version=KUBERNETES[-1]):
    return helm(
        "template", "docs", CHART, "--kube-version", version, "--values", values(name), *options
    )


def manifests(name, *options):
    rendered = template(name, *options)
    assert rendered.returncode == 0, rendered.stderr
    return [one for one in yaml.safe_load_all(rendered.stdout) if one]


def of_kind(kind, found):
    return [one for one in found if one["kind"] == kind]


def test_hadolint_accepts_the_image():
    result = run(tool("bin/hadolint"), "--failure-threshold", "style", DEPLOY / "Dockerfile")
    assert result.returncode == 0, result.stdout


@pytest.fixture
def compose(tmp_path):
    """Resolves a copy of the compose file with these variables."""
    for name in ("compose.yaml", "nginx.conf"):
        shutil.copy(DEPLOY / name, tmp_path)
    (tmp_path / ".env").touch()
    program = tool("lib/python3*/site-packages/compose/docker-compose")

    def resolve(*profiles, **variables):
        options = [option for name in profiles for option in ("--profile", name)]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **variables}
        return run(program, *options, "config", cwd=tmp_path, env=environment)

    return resolve


@pytest.mark.parametrize(
    ("profiles", "nodes"),
    [((), {"search-1"}), (("cluster",), {"search-1", "search-2", "search-3"})],
)
def test_docker_compose_accepts_the_file(compose, profiles, nodes):
    result = compose(*profiles, **SECRETS)
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    services = yaml.safe_load(result.stdout)["services"]
    assert {name for name in services if name.startswith("search")} == nodes
    assert {services[name]["environment"]["PGPASSWORD"] for name in PROGRAMS} == {"p"}


@pytest.mark.parametrize("name", SECRETS)
def test_docker_compose_does_not_start_without_a_secret(compose, name):
    result = compose(**{**SECRETS, name: ""})
    assert result.returncode != 0
    assert f"{name} is missing a value: set it in deploy/.env" in result.stderr


@pytest.mark.parametrize("name", VALUES)
def test_helm_accepts_the_chart(name):
    result = helm("lint", "--strict", CHART, "--values", values(name))
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("name", VALUES)
def test_kubernetes_accepts_the_manifests(name, version, tmp_path):
    rendered = template(name, version=version)
    assert rendered.returncode == 0, rendered.stderr
    file = tmp_path / "manifests.yaml"
    file.write_text(rendered.stdout, encoding="utf-8")
    validate = tool("bin/kubernetes-validate")
    result = run(validate, "--strict", "--kubernetes-version", version, str(file))
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_chart_needs_values_for_what_has_no_default():
    result = helm("template", "docs", CHART, "--kube-version", KUBERNETES[-1])
    assert result.returncode != 0
    for name in ("existingSecret", "url", "host"):
        assert name in result.stderr


@pytest.mark.parametrize(
    "option",
    [
        "database.url=postgresql://footnote:password@db/footnote",
        "settings.FOOTNOTE_SEARCH_PASSWORD=secret",
        "settings.FOOTNOTE_OIDC_CLIENT_SECRET=secret",
        "settings.OPENAI_API_KEY=secret",
        "settings.AWS_SECRET_ACCESS_KEY=secret",
        "image.tag=latest",
        "ingress.enabled=true",  # without a certificate
        "networkPolicy.enabled=true",  # without anyone who may connect
        "pages.replica=3",
    ],
)
def test_the_chart_refuses_values_that_are_unsafe_or_unknown(option):
    result = template("minimal", "--set", option)
    assert result.returncode != 0
    assert "don't meet the specifications of the schema" in result.stderr


def test_no_secret_is_in_a_config_map():
    [settings] = of_kind("ConfigMap", manifests("full"))
    assert not {name for name in settings["data"] if name.endswith(("PASSWORD", "SECRET", "_KEY"))}
    for deployment in of_kind("Deployment", manifests("full")):
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        required = {one["name"] for one in container["env"] if "valueFrom" in one}
        assert required == {"PGPASSWORD", "FOOTNOTE_ENCRYPTION_KEY"}


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        ("minimal", {"type": "Recreate"}),
        (
            "full",
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        ),
    ],
)
def test_pods_are_replaced_one_by_one_only_if_the_values_say_so(name, strategy):
    deployments = of_kind("Deployment", manifests(name))
    assert [one["spec"]["strategy"] for one in deployments] == [strategy] * len(PROGRAMS)


def test_pods_share_a_node_if_the_volume_can_be_mounted_on_one_only():
    found = manifests("minimal")
    for deployment in of_kind("Deployment", found):
        pod = deployment["spec"]["template"]["spec"]
        affinity = pod["affinity"]["podAffinity"]
        [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]
        labels = deployment["spec"]["template"]["metadata"]["labels"]
        assert term["labelSelector"]["matchLabels"].items() <= labels.items()
        assert "topologySpreadConstraints" not in pod
    assert not of_kind("PodDisruptionBudget", found), "which would keep the node from being drained"


def test_pods_are_spread_over_nodes_if_all_can_mount_the_volume():
    found = manifests("full")
    for deployment in of_kind("Deployment", found):
        pod = deployment["spec"]["template"]["spec"]
        assert pod["topologySpreadConstraints"]
        assert "affinity" not in pod
    assert len(of_kind("PodDisruptionBudget", found)) == len(PROGRAMS)


def test_pods_share_no_volume_if_uploaded_files_are_in_a_bucket():
    found = manifests("bucket")
    for deployment in of_kind("Deployment", found):
        pod = deployment["spec"]["template"]["spec"]
        assert all("emptyDir" in volume for volume in pod["volumes"])
        assert pod["topologySpreadConstraints"]
        assert "affinity" not in pod
    assert len(of_kind("PodDisruptionBudget", found)) == len(PROGRAMS)
    assert not of_kind("PersistentVolumeClaim", found)


@pytest.mark.parametrize("name", ["minimal", "bucket"])
def test_pods_share_a_volume_if_the_url_of_the_bucket_is_empty(name):
    found = manifests(name, "--set-string", "settings.FOOTNOTE_UPLOADS_URL=")
    [claim] = of_kind("PersistentVolumeClaim", found)
    assert claims_of(found) == [claim["metadata"]["name"]] * len(PROGRAMS)
    assert all("affinity" in pod_of(one) for one in of_kind("Deployment", found))
    assert not of_kind("PodDisruptionBudget", found)


def test_an_existing_claim_is_mounted_also_with_a_bucket():
    found = manifests("bucket", "--set", "persistence.existingClaim=old")
    assert claims_of(found) == ["old"] * len(PROGRAMS)
    assert all("affinity" in pod_of(one) for one in of_kind("Deployment", found))
    assert not of_kind("PodDisruptionBudget", found)
    assert not of_kind("PersistentVolumeClaim", found)


def test_helm_keeps_the_claim_of_a_release_that_no_longer_needs_it():
    [claim] = of_kind("PersistentVolumeClaim", manifests("minimal"))
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"


def pod_of(deployment):
    return deployment["spec"]["template"]["spec"]


def claims_of(found):
    """The claims of volumes that the pods mount."""
    volumes = [volume for one in of_kind("Deployment", found) for volume in pod_of(one)["volumes"]]
    claims = [volume.get("persistentVolumeClaim", {}) for volume in volumes]
    return [claim["claimName"] for claim in claims if claim]


def test_services_select_exactly_the_pods_of_their_component():
    found = manifests("full")
    pods = {
        one["metadata"]["name"]: one["spec"]["template"]["metadata"]["labels"]
        for one in of_kind("Deployment", found)
    }
    for service in of_kind("Service", found):
        selector = service["spec"]["selector"].items()
        selected = {name for name, labels in pods.items() if selector <= labels.items()}
        assert selected == {service["metadata"]["name"]}
