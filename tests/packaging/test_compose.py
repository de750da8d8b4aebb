"""`compose.yaml`: the services that the specification names, loopback only, no secret, settings that exist."""

import json
import re
from typing import Any

import pytest
from tests.packaging.deployment_files import ROOT, SETTINGS, documents, is_a_command, stages

from orchestrator_sandbox.cli import command_parser as sandbox_parser
from orchestrator_service.environment import Environment
from orchestrator_service.issuers import read_issuers

(COMPOSE,) = documents("compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
TEXT = (ROOT / "compose.yaml").read_text(encoding="utf-8")
OURS = [name for name, service in SERVICES.items() if service.get("image") == "orchestrator:local"]
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")


def test_it_has_the_services_that_the_specification_names() -> None:
    assert SERVICES.keys() == {"postgres", "mocks", "provision", "migration", "service", "worker"}
    assert OURS == ["provision", "migration", "service", "worker"]


def test_the_database_and_the_doubles_need_nothing_else() -> None:
    assert [name for name in ("postgres", "mocks") if "depends_on" in SERVICES[name]] == []


def test_the_database_is_postgresql_17_pinned_by_its_digest() -> None:
    assert re.fullmatch(r"postgres:17\.\d+@sha256:[0-9a-f]{64}", SERVICES["postgres"]["image"])


@pytest.mark.parametrize("name", [name for name in SERVICES if "ports" in SERVICES[name]])
def test_ports_are_bound_to_loopback(name: str) -> None:
    assert [port for port in SERVICES[name]["ports"] if not port.startswith("127.0.0.1:${")] == []


@pytest.mark.parametrize("name", OURS)
def test_a_service_of_ours_is_given_settings_that_exist_and_a_command_that_exists(name: str) -> None:
    service = SERVICES[name]
    assert service["environment"].keys() <= SETTINGS
    assert is_a_command(service.get("command", ["serve"]))
    assert service["build"] == {"context": ".", "target": "service"}


@pytest.mark.parametrize("name", [*OURS, "mocks"])
def test_a_container_of_ours_can_write_nowhere_and_gain_nothing(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_api_and_worker_are_one_image_with_other_settings() -> None:
    api, worker = SERVICES["service"], SERVICES["worker"]
    assert api["image"] == worker["image"]
    switched = {
        name: {key for key, value in SERVICES[name]["environment"].items() if value == "true"}
        for name in OURS
    }
    assert switched["service"] == {"REQUEST_API_ENABLED", "FLOW_ADMIN_ENABLED", "API_DOCS_ENABLED"}
    assert switched["worker"] == {"WORKER_ENABLED"}


def test_every_setting_can_be_set_but_what_the_image_and_the_file_itself_decide() -> None:
    decided = {"LISTEN_HOST", "LISTEN_PORT", "MANAGEMENT_HOST", "MANAGEMENT_PORT"}
    # On one machine the API is published on loopback; a certificate comes with whatever publishes it elsewhere.
    decided |= {"LISTEN_TLS_CERTIFICATE_FILE", "LISTEN_TLS_KEY_FILE"}
    given = {name for service in OURS for name in SERVICES[service]["environment"]}
    assert given | decided == SETTINGS


def test_only_those_who_need_a_role_are_given_its_password() -> None:
    given = {
        name: set(
            re.findall(r"\$\{(\w+PASSWORD)", " ".join(map(str, SERVICES[name]["environment"].values())))
        )
        for name in OURS
    }
    assert given["service"] == given["worker"] == {"RUNTIME_PASSWORD"}
    assert given["migration"] == {"MIGRATION_PASSWORD"}


def test_every_variable_of_the_file_is_in_the_example_and_none_that_is_secret_has_a_value() -> None:
    told = dict(re.findall(r"\$\{(\w+)(:[-?][^}]*)?\}", TEXT))
    in_example = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE))
    assert told
    assert told.keys() <= in_example.keys()
    needed = {name for name, default in told.items() if default.startswith(":?")}
    assert needed == {name for name, value in re.findall(r"^([A-Z_]+)=(.*)$", EXAMPLE, re.MULTILINE)}
    assert {in_example[name] for name in needed} == {""}


def test_no_password_stands_in_the_file() -> None:
    assert [word for word in re.findall(r"://\w+:([^@\n]+)@", TEXT) if not word.startswith("${")] == []


def test_the_example_names_every_setting() -> None:
    assert set(re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.MULTILINE)) >= SETTINGS


def test_the_trusted_issuer_is_the_one_that_the_doubles_call_themselves() -> None:
    issuers = json.loads(SERVICES["service"]["environment"]["AUTH_ISSUERS"])
    read = read_issuers(Environment({"AUTH_ISSUERS": json.dumps(issuers)}).json("AUTH_ISSUERS"))
    chosen = sandbox_parser().parse_args(SERVICES["mocks"]["command"])
    assert read.faults == ()
    assert issuers[0]["issuer"] == chosen.issuer


def test_ports_inside_are_those_that_the_images_listen_on() -> None:
    exposed = {
        stage.name: set(stage.last("EXPOSE").split())
        for stage in stages()
        if stage.name in ("service", "sandbox")
    }
    inside = {
        name: {port.rpartition(":")[2] for port in SERVICES[name]["ports"]} for name in ("service", "mocks")
    }
    assert inside == {"service": exposed["service"], "mocks": exposed["sandbox"]}


@pytest.mark.parametrize("name", ["provision", "migration"])
@pytest.mark.parametrize("waiting", ["service", "worker"])
def test_who_stays_waits_for_each_who_ends(name: str, waiting: str) -> None:
    assert "restart" not in SERVICES[name]
    assert SERVICES[waiting]["depends_on"][name] == {"condition": "service_completed_successfully"}


def test_a_container_has_longer_to_end_than_the_worker_drains() -> None:
    drain = int(re.findall(r"^#WORKER_DRAIN_SECONDS=(\d+)$", EXAMPLE, re.MULTILINE)[0])
    assert int(SERVICES["worker"]["stop_grace_period"].removesuffix("s")) > drain + 10


def test_the_catalogue_of_containers_differs_from_that_of_the_sandbox_in_the_way_to_the_doubles_alone() -> (
    None
):
    catalogues = ROOT / "examples" / "catalogue"
    mounted = json.loads((ROOT / COMPOSE["configs"]["catalogue"]["file"]).read_text())
    of_sandbox = json.loads((catalogues / "sandbox.json").read_text())
    apart = {"title", "endpoints"}
    assert {key: value for key, value in mounted.items() if key not in apart} == {
        key: value for key, value in of_sandbox.items() if key not in apart
    }
