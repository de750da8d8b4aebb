"""Addresses and secrets are looked up where the catalogue says, and used only if they are what they should be."""

from pathlib import Path

import pytest

from orchestrator_worker.deployment_values import (
    DeploymentValues,
    FromEnvironment,
    FromFile,
    Reference,
    ValueUnavailable,
    WrittenOut,
    checked_base_url,
    checked_header_value,
)


def test_a_file_is_read_anew_each_time_so_that_its_secret_may_rotate(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    values = DeploymentValues()
    file.write_text("first\n")
    assert values.value_of(FromFile(path=file)) == "first"
    file.write_text("second\r\n")
    assert values.value_of(FromFile(path=file)) == "second"


@pytest.mark.parametrize(
    "reference",
    [
        FromEnvironment(variable="MISSING"),
        FromEnvironment(variable="EMPTY"),
        FromFile(path=Path("/no/such/file")),
        FromFile(path=Path("/")),
        WrittenOut(value=""),
    ],
)
def test_a_value_that_is_not_there_is_said_to_be_unavailable(reference: Reference) -> None:
    with pytest.raises(ValueUnavailable):
        DeploymentValues(environment={"EMPTY": "\n"}).value_of(reference)


def test_values_do_not_show_the_environment() -> None:
    assert "hidden" not in repr(DeploymentValues(environment={"TOKEN": "hidden"}))


@pytest.mark.parametrize(
    ("url", "checked"),
    [
        ("https://inventory.test", "https://inventory.test"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_base_url_is_a_place_to_call(url: str, checked: str) -> None:
    assert checked_base_url(url) == checked


@pytest.mark.parametrize(
    "url",
    [
        "inventory.test",
        "ftp://inventory.test",
        "http://",
        "http:///path",
        "http://allowed\\@evil.test",
        "http://user:word@inventory.test",
        "http://inventory.test?x=1",
        "http://inventory.test#x",
        "http://inventory.test/{item}",
        "http://inventory.test:99999",
        "http://inventory.test:port",
        "http://[::1",
        "http://inventory.test/\r\nX: 1",
        "http://inventory.test/ x",
        "",
    ],
)
def test_a_base_url_that_is_more_or_less_than_a_place_is_refused(url: str) -> None:
    with pytest.raises(ValueUnavailable):
        checked_base_url(url)


@pytest.mark.parametrize("value", ["a b", "a\n", "ñ", "a\x7f"])
def test_a_header_value_is_visible_ascii(value: str) -> None:
    with pytest.raises(ValueUnavailable) as refusal:
        checked_header_value(value)
    assert value not in str(refusal.value)
