"""Settings: safe by default, every fault at once, never a value."""

import json
from pathlib import Path

import pytest
from attrs import fields_dict

from orchestrator_domain.flow.limits import HARD_MAXIMUM, FlowLimits
from orchestrator_http.cursors import SECRET_CHARACTERS_MIN
from orchestrator_service.environment import SettingsInvalid
from orchestrator_service.settings import read_migration_url, read_settings

URL = "postgresql://runtime:hunter2@db.example/orchestrator"
SECRET = "abcdefghijklmnopqrstuvwxyz012345"
ISSUER = {"issuer": "https://issuer.example", "audiences": ["orchestrator"], "algorithms": ["RS256"]}
LIMITS = {
    "FLOW_DEFINITION_BYTES_MAX": "definition_bytes_max",
    "FLOW_STATES_MAX": "states_max",
    "FLOW_TRANSITIONS_MAX": "transitions_max",
    "FLOW_ACTIONS_MAX": "actions_max",
    "FLOW_CONDITION_DEPTH_MAX": "condition_depth_max",
    "FLOW_DECISION_NODES_MAX": "decision_nodes_max",
    "REQUEST_DATA_BYTES_MAX": "data_bytes_max",
}


def _faults(**variables: str) -> tuple[str, ...]:
    with pytest.raises(SettingsInvalid) as refusal:
        read_settings(variables)
    return refusal.value.faults


def test_only_the_database_has_to_be_named_and_everything_else_is_off() -> None:
    settings = read_settings({"DATABASE_URL": URL})

    assert not settings.serves_api
    assert not settings.worker.enabled
    assert not settings.api_docs_enabled
    assert settings.management is None
    assert settings.catalogue_file is None
    assert settings.issuers == ()
    assert settings.listen.host == "127.0.0.1"
    assert settings.limits == FlowLimits()


def test_the_worker_s_defaults_are_those_of_its_document() -> None:
    worker = read_settings({"DATABASE_URL": URL, "WORKER_ENABLED": "true"}).worker

    assert (worker.concurrency, worker.batch, worker.poll_ms) == (10, 10, 500)
    assert (worker.lease_seconds, worker.renew_seconds, worker.drain_seconds) == (60, 15, 20)


def test_a_smaller_worker_takes_smaller_batches() -> None:
    worker = read_settings({"DATABASE_URL": URL, "WORKER_CONCURRENCY": "3"}).worker

    assert (worker.concurrency, worker.batch) == (3, 3)


def test_every_fault_comes_at_once_and_none_tells_a_value() -> None:
    faults = _faults(
        REQUEST_API_ENABLED="yes please hunter2",
        WORKER_CONCURRENCY="hunter2",
        WORKER_POLL_MS="0",
        WORKER_LEASE_SECONDS="20",
        WORKER_RENEW_SECONDS="10",
        DATABASE_POOL="1000000",
        AUTH_ISSUERS='{"hunter2": NaN}',
        INTEGRATION_CATALOGUE="/nowhere/hunter2.json",
        LOG_LEVEL="hunter2",
    )

    assert sorted(fault.split(" ")[0] for fault in faults) == [
        "AUTH_ISSUERS",
        "DATABASE_POOL",
        "DATABASE_URL",
        "INTEGRATION_CATALOGUE",
        "LOG_LEVEL",
        "REQUEST_API_ENABLED",
        "WORKER_CONCURRENCY",
        "WORKER_POLL_MS",
        "WORKER_RENEW_SECONDS",
    ]
    assert "hunter2" not in " ".join(faults)


def test_a_renewal_has_to_come_twice_in_a_lease() -> None:
    faults = _faults(DATABASE_URL=URL, WORKER_LEASE_SECONDS="30", WORKER_RENEW_SECONDS="15")

    assert faults == ("WORKER_RENEW_SECONDS must be less than half of WORKER_LEASE_SECONDS.",)


@pytest.mark.parametrize("written", ["nan", "inf", "-1", "1e9"])
def test_a_number_that_is_none_or_out_of_bounds_is_refused(written: str) -> None:
    assert len(_faults(DATABASE_URL=URL, WORKER_DRAIN_SECONDS=written)) == 1


def test_a_misspelt_name_is_answered_with_the_one_that_was_meant() -> None:
    faults = _faults(DATABASE_URL=URL, WORKER_LEASE_SECOND="90")

    assert faults == (
        "WORKER_LEASE_SECOND is not a setting of this service; did you mean WORKER_LEASE_SECONDS?",
    )


@pytest.mark.parametrize("name", ["DATABASE_URI", "LISTEN_PROT", "WORKER_CONCURENCY", "AUTH_ISSUER"])
def test_a_name_that_is_nearly_one_of_ours_is_a_fault(name: str) -> None:
    (fault,) = _faults(DATABASE_URL=URL, **{name: "x"})

    assert fault.startswith(f"{name} is not a setting of this service; did you mean ")


OF_OTHERS = {
    "DATABASE_SERVICE_HOST": "10.0.0.1",
    "DATABASE_SERVICE_PORT": "5432",
    "DATABASE_SERVICE_PORT_POSTGRES": "5432",
    "DATABASE_PORT": "tcp://10.0.0.1:5432",
    "DATABASE_PORT_5432_TCP": "tcp://10.0.0.1:5432",
    "DATABASE_PORT_5432_TCP_PROTO": "tcp",
    "DATABASE_PORT_5432_TCP_PORT": "5432",
    "DATABASE_PORT_5432_TCP_ADDR": "10.0.0.1",
    "WORKER_SERVICE_PORT": "80",
    "WORKER_PORT": "tcp://10.0.0.2:80",
    "AUTH_SERVICE_HOST": "10.0.0.3",
    "LISTEN_PID": "7",
    "LISTEN_FDS": "1",
    "LISTEN_FDNAMES": "api",
    "REQUEST_METHOD": "GET",
    "FLOW_CONTROL": "on",
}


def test_what_a_cluster_or_a_supervisor_sets_under_our_prefixes_is_no_fault() -> None:
    assert read_settings({"DATABASE_URL": URL, **OF_OTHERS}) == read_settings({"DATABASE_URL": URL})


@pytest.mark.parametrize("url", ["hunter2", "mysql://someone:hunter2@db.example/x", "host=db.example"])
def test_a_database_is_named_by_a_url_of_postgresql(url: str) -> None:
    expected = "is not a URL of PostgreSQL; it begins with postgresql://."
    assert _faults(DATABASE_URL=url) == (f"DATABASE_URL {expected}",)
    with pytest.raises(SettingsInvalid) as refusal:
        read_migration_url({"MIGRATION_DATABASE_URL": url})
    assert refusal.value.faults == (f"MIGRATION_DATABASE_URL {expected}",)


@pytest.mark.parametrize("url", ["postgresql://u:hunter2@[bad", "postgresql://db.example:hunter2/x"])
def test_a_url_that_can_not_be_taken_apart_is_told_with_the_other_faults(url: str) -> None:
    faults = _faults(DATABASE_URL=url, WORKER_BATCH="x")

    assert faults == (
        "DATABASE_URL is not a URL that can be read; check its host and port.",
        "WORKER_BATCH is not a number.",
    )


def test_a_url_may_name_several_hosts() -> None:
    url = "postgresql://runtime@one.example:5432,two.example:5433/orchestrator"

    assert read_settings({"DATABASE_URL": url}).database_url == url


def test_digits_of_other_scripts_are_no_number() -> None:
    assert _faults(DATABASE_URL=URL, WORKER_BATCH="\u0663") == ("WORKER_BATCH is not a number.",)


def test_issuers_that_are_no_json_are_not_told_to_be_missing() -> None:
    faults = _faults(
        DATABASE_URL=URL, REQUEST_API_ENABLED="on", CURSOR_SECRETS="s" * 32, AUTH_ISSUERS='{"hunter2": NaN}'
    )

    assert len(faults) == 1
    assert faults[0].startswith("AUTH_ISSUERS is not strict JSON")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_url_of_postgresql_may_be_written_in_each_usual_way(scheme: str) -> None:
    url = f"{scheme}://runtime@db.example/orchestrator"

    assert read_settings({"DATABASE_URL": url}).database_url == url


def test_variables_of_others_are_left_alone() -> None:
    read_settings({"DATABASE_URL": URL, "WORKERS": "2", "HOME": "/home/x", "PGPASSWORD": "x"})


@pytest.mark.parametrize("written", ["true", "TRUE", "1", "yes", "on", " true "])
def test_a_switch_is_turned_on_by_each_usual_word(written: str) -> None:
    assert read_settings({"DATABASE_URL": URL, "WORKER_ENABLED": written}).worker.enabled


@pytest.mark.parametrize("switch", ["REQUEST_API_ENABLED", "FLOW_ADMIN_ENABLED"])
def test_an_api_needs_a_trusted_issuer(switch: str) -> None:
    (fault,) = _faults(DATABASE_URL=URL, CURSOR_SECRETS=SECRET, **{switch: "true"})

    assert fault.startswith("AUTH_ISSUERS is not set")


@pytest.mark.parametrize("switch", ["REQUEST_API_ENABLED", "FLOW_ADMIN_ENABLED"])
def test_an_api_needs_a_secret_that_signs_cursors(switch: str) -> None:
    (fault,) = _faults(DATABASE_URL=URL, AUTH_ISSUERS=json.dumps([ISSUER]), **{switch: "true"})

    assert fault.startswith("CURSOR_SECRETS is not set")


def test_no_secret_that_signs_cursors_may_be_short() -> None:
    (fault,) = _faults(DATABASE_URL=URL, CURSOR_SECRETS=f"{SECRET},hunter2")

    assert fault == "CURSOR_SECRETS holds a secret of less than 32 characters."


def test_secrets_show_up_in_no_text_of_the_settings() -> None:
    settings = read_settings({"DATABASE_URL": URL, "CURSOR_SECRETS": f"{SECRET}, {SECRET[::-1]}"})

    assert settings.cursor_secrets == (SECRET, SECRET[::-1])
    assert settings.database_url == URL
    assert SECRET not in repr(settings)
    assert "hunter2" not in repr(settings)


def test_the_shortest_secret_that_is_taken_is_the_shortest_that_signs_cursors() -> None:
    shortest = "s" * SECRET_CHARACTERS_MIN

    assert read_settings({"DATABASE_URL": URL, "CURSOR_SECRETS": shortest}).cursor_secrets == (shortest,)
    assert len(_faults(DATABASE_URL=URL, CURSOR_SECRETS=shortest[1:])) == 1


@pytest.mark.parametrize(("variable", "limit"), LIMITS.items())
def test_a_limit_is_set_up_to_its_hard_maximum_and_no_further(variable: str, limit: str) -> None:
    hard_maximum = fields_dict(FlowLimits)[limit].metadata[HARD_MAXIMUM]

    limits = read_settings({"DATABASE_URL": URL, variable: str(hard_maximum)}).limits
    (fault,) = _faults(DATABASE_URL=URL, **{variable: str(hard_maximum + 1)})

    assert limits == FlowLimits(**{limit: hard_maximum})
    assert fault.startswith(f"{variable} must be between ")
    with pytest.raises(ValueError, match=limit):
        FlowLimits(**{limit: hard_maximum + 1})


def test_a_full_configuration_is_read(tmp_path: Path) -> None:
    catalogue = tmp_path / "catalogue.json"
    catalogue.write_text("{}")
    settings = read_settings(
        {
            "DATABASE_URL": URL,
            "REQUEST_API_ENABLED": "true",
            "AUTH_ISSUERS": json.dumps([ISSUER]),
            "CURSOR_SECRETS": SECRET,
            "INTEGRATION_CATALOGUE": str(catalogue),
            "MANAGEMENT_PORT": "9090",
            "FLOW_BUSINESS_ROLES": "ANALISTA, SOLICITANTE,",
            "FLOW_STATES_MAX": "10",
            "LOG_LEVEL": "warning",
        }
    )

    assert settings.serves_api
    assert settings.catalogue_file == catalogue
    assert settings.management is not None
    assert settings.management.port == 9090
    assert settings.business_roles == ("ANALISTA", "SOLICITANTE")
    assert settings.limits.states_max == 10
    assert settings.log_level == "WARNING"


def test_a_migration_needs_its_own_url_and_nothing_else() -> None:
    assert read_migration_url({"MIGRATION_DATABASE_URL": URL, "WORKER_POLL_MS": "x"}) == URL
    with pytest.raises(SettingsInvalid) as refusal:
        read_migration_url({"DATABASE_URL": URL})
    assert refusal.value.faults == (
        "MIGRATION_DATABASE_URL is not set; it holds the URL of the role that owns the schema.",
    )


@pytest.mark.parametrize(("name", "service"), [("MANAGEMENT_PORT", "management"), ("LISTEN_PORT", "listen")])
def test_an_address_that_kubernetes_put_in_place_of_a_port_is_told_as_what_it_is(
    name: str, service: str
) -> None:
    (fault,) = _faults(DATABASE_URL=URL, **{name: "tcp://10.0.0.1:9090"})

    assert fault == (
        f"{name} holds what Kubernetes sets beside a service called {service}, not a port: "
        "set enableServiceLinks to false in the pod, or give the service another name."
    )
