"""The example for Kubernetes: restricted pods, probes that exist, settings that exist, time enough to end."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.packaging.deployment_files import ROOT, SETTINGS, documents, is_a_command, stages

from orchestrator_domain.exact_json.text import parse_json
from orchestrator_domain.request.erasure import read_policy
from orchestrator_service.cli import main
from orchestrator_service.environment import Environment
from orchestrator_service.issuers import read_issuers

DIRECTORY = "deploy/kubernetes"
(KUSTOMIZATION,) = documents(f"{DIRECTORY}/kustomization.yaml")
OBJECTS = [each for file in KUSTOMIZATION["resources"] for each in documents(f"{DIRECTORY}/{file}")]


def _pod(each: dict[str, Any]) -> dict[str, Any]:
    spec = each["spec"]["jobTemplate"]["spec"] if each["kind"] == "CronJob" else each["spec"]
    return dict(spec["template"]["spec"])


PODS = {
    each["metadata"]["name"]: _pod(each)
    for each in OBJECTS
    if each["kind"] in ("Deployment", "Job", "CronJob")
}
SERVED = {name: PODS[name] for name in ("orchestrator-api", "orchestrator-worker")}
(SHARED,) = (each["data"] for each in OBJECTS if each["kind"] == "ConfigMap")
IMAGE = next(stage for stage in stages() if stage.name == "service")


def _container(pod: dict[str, Any]) -> dict[str, Any]:
    (container,) = pod["containers"]
    return dict(container)


def _variables(pod: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in _container(pod)["env"]}


def test_there_are_api_worker_migration_and_retention() -> None:
    assert PODS.keys() == {f"orchestrator-{part}" for part in ("api", "worker", "migration", "retention")}


def test_every_file_is_part_of_it() -> None:
    generated = {file for each in KUSTOMIZATION["configMapGenerator"] for file in each["files"]}
    listed = {*KUSTOMIZATION["resources"], *generated, "kustomization.yaml"}
    assert {file.name for file in (ROOT / DIRECTORY).iterdir()} == listed


@pytest.mark.parametrize("name", PODS)
def test_a_pod_keeps_to_what_is_restricted(name: str) -> None:
    pod, container = PODS[name], _container(PODS[name])
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == IMAGE.last(
        "USER"
    )
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"requests", "limits"} == container["resources"].keys()


@pytest.mark.parametrize("name", PODS)
def test_no_variable_of_another_service_can_take_the_place_of_a_setting(name: str) -> None:
    assert PODS[name]["enableServiceLinks"] is False


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_given_settings_that_exist_and_a_command_that_exists(name: str) -> None:
    assert _variables(PODS[name]).keys() <= SETTINGS
    assert is_a_command(_container(PODS[name])["args"])


@pytest.mark.parametrize("name", PODS)
def test_what_is_secret_comes_from_a_secret(name: str) -> None:
    secret = {
        variable for variable in _variables(PODS[name]) if "DATABASE" in variable or "SECRET" in variable
    }
    assert secret
    for each in _container(PODS[name])["env"]:
        assert ("value" in each) is (each["name"] not in secret)


def test_what_is_shared_are_settings_and_the_issuers_can_be_read() -> None:
    assert SHARED.keys() <= SETTINGS
    issuers = Environment({"AUTH_ISSUERS": SHARED["AUTH_ISSUERS"]}).json("AUTH_ISSUERS")
    assert read_issuers(issuers).faults == ()


def test_the_migration_alone_is_the_owner_of_the_schema() -> None:
    assert {name for name, pod in PODS.items() if "MIGRATION_DATABASE_URL" in _variables(pod)} == {
        "orchestrator-migration"
    }
    assert "DATABASE_URL" not in _variables(PODS["orchestrator-migration"])


def test_the_migration_can_be_applied_before_everything_else() -> None:
    label, value = "app.kubernetes.io/component", "migration"
    assert [
        (each["kind"], each["metadata"]["name"])
        for each in OBJECTS
        if each["metadata"].get("labels", {}).get(label) == value
    ] == [("Job", "orchestrator-migration")]
    guide = (ROOT / "docs/how-to/run-in-kubernetes.md").read_text(encoding="utf-8")
    assert guide.index(f"kubectl apply -l {label}={value}") < guide.index(
        "kubectl apply -k deploy/kubernetes"
    )


def test_the_worker_alone_holds_the_secrets_of_providers() -> None:
    holding = {
        name
        for name, pod in PODS.items()
        for volume in pod.get("volumes", ())
        if volume.get("secret", {}).get("secretName") == "orchestrator-providers"
    }
    assert holding == {"orchestrator-worker"}


def test_the_catalogue_is_that_of_the_example_but_for_the_way_to_the_providers() -> None:
    """The flows of the example can be published there as they are; a member that one of them lacks would be missed."""
    deployed, example = (
        json.loads((ROOT / place).read_text())
        for place in (f"{DIRECTORY}/catalogue.json", "examples/catalogue/sandbox.json")
    )
    for catalogue in (deployed, example):
        del catalogue["title"], catalogue["$schema"]
        for endpoint in catalogue["endpoints"].values():
            del endpoint["authentication"]
            endpoint.pop("allowedNetworks", None)
    assert deployed == example


def test_nothing_is_erased_before_somebody_has_agreed_on_a_policy() -> None:
    (job,) = (each["spec"] for each in OBJECTS if each["kind"] == "CronJob")
    assert job["suspend"] is True
    assert _variables(PODS["orchestrator-retention"]).keys() == {"RETENTION_DATABASE_URL"}
    assert read_policy(parse_json((ROOT / DIRECTORY / "retention.json").read_bytes()))


@pytest.mark.parametrize("name", SERVED)
def test_probes_ask_the_management_port(name: str) -> None:
    container = _container(SERVED[name])
    ports = {port["name"]: str(port["containerPort"]) for port in container["ports"]}
    assert ports["management"] == IMAGE.environment()["MANAGEMENT_PORT"]
    probes = {probe: container[f"{probe}Probe"]["httpGet"] for probe in ("startup", "readiness", "liveness")}
    assert {get["port"] for get in probes.values()} == {"management"}
    assert {probe: get["path"] for probe, get in probes.items()} == {
        "startup": "/health/live",
        "readiness": "/health/ready",
        "liveness": "/health/live",
    }


def test_the_api_listens_where_its_service_leads() -> None:
    (service,) = (each["spec"] for each in OBJECTS if each["kind"] == "Service")
    ports = {
        port["name"]: str(port["containerPort"]) for port in _container(PODS["orchestrator-api"])["ports"]
    }
    assert ports[service["ports"][0]["targetPort"]] == IMAGE.environment()["LISTEN_PORT"]


@pytest.mark.parametrize("name", SERVED)
def test_a_pod_has_time_to_end_in_order(name: str) -> None:
    pod, container = SERVED[name], _container(SERVED[name])
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    work = int(_variables(pod).get("WORKER_DRAIN_SECONDS") or 10)
    assert pod["terminationGracePeriodSeconds"] >= before + work + 10


def test_the_catalogue_has_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    file = Path(DIRECTORY) / KUSTOMIZATION["configMapGenerator"][0]["files"][0]
    assert main(["catalogue", "check", str(ROOT / file)]) == 0
    assert json.loads(SHARED["AUTH_ISSUERS"])[0]["issuer"].startswith("https://")
    capsys.readouterr()
