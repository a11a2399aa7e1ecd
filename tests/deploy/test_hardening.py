"""Every container runs as an ordinary user, without capabilities, and on a read-only root."""

import re

import pytest

from tests.deploy.files import COMPOSE, DOCKERFILE, PROGRAMS, SERVICES, chart_template

SEARCH = {"search-1", "search-2", "search-3"}
IMAGE_USER = "10001:10001"


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_privileges(name):
    service = SERVICES[name]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not service.keys() & {"cap_add", "privileged", "devices", "pid", "network_mode"}
    if name not in SEARCH:
        assert service["read_only"] is True
        assert any(mount.startswith("/tmp:") for mount in service["tmpfs"])


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_checked_limited_and_restarted(name):
    service = SERVICES[name]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert {"cpus", "memory", "pids"} == service["deploy"]["resources"]["limits"].keys()
    assert service["restart"] == "unless-stopped"
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_process_of_footnote_runs_twice_and_ends_before_it_is_killed(name):
    service = SERVICES[name]
    assert service["deploy"]["replicas"] == 2
    assert service["stop_grace_period"] == "30s"
    assert service["volumes"] == ["library:/var/lib/footnote"]


def test_every_volume_is_declared():
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", ())]
    names = {mount.partition(":")[0] for mount in mounts if not mount.startswith(".")}
    assert names == {*COMPOSE["volumes"]}


def test_the_image_runs_as_an_ordinary_user_and_gets_signals():
    final = DOCKERFILE.rpartition("\nFROM ")[2]
    assert f"USER {IMAGE_USER}" in final
    assert {SERVICES[name]["user"] for name in PROGRAMS} == {IMAGE_USER}
    assert 'ENTRYPOINT ["tini",' in final
    assert "pip install" not in final
    assert not re.search(r"^(ENTRYPOINT|CMD) [^\[]", DOCKERFILE, re.MULTILINE)
    assert "FOOTNOTE_DATA_DIR=/var/lib/footnote/data" in final


def test_pods_run_as_the_user_of_the_image():
    text = chart_template("_helpers.tpl")
    uid = IMAGE_USER.partition(":")[0]
    for line in (
        "runAsNonRoot: true",
        f"runAsUser: {uid}",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "drop: [ALL]",
        "type: RuntimeDefault",
        "automountServiceAccountToken: false",
    ):
        assert line in text
