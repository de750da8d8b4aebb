"""Public addresses may be connected to, and of the others only those that are listed."""

from ipaddress import ip_address, ip_network

import pytest

from orchestrator_worker.address_check import is_permitted, permitted_addresses


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"]
)
def test_a_public_address_is_permitted(address: str) -> None:
    assert is_permitted(ip_address(address), ())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "192.0.2.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fe80::1",
        "fe80::1%1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "ff0e::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "192.0.0.8",
        "3fff::1",
        "5f00::1",
        "2001:db8::1",
        "2002:7f00:1::1",
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_permitted(ip_address(address), ())


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("127.0.0.1", "127.0.0.0/8"),
        ("::ffff:10.1.2.3", "10.0.0.0/8"),
        ("64:ff9b::a01:203", "10.0.0.0/8"),
        ("fd12::1", "fc00::/7"),
        ("fe80::1%1", "fe80::/10"),
    ],
)
def test_a_listed_network_permits_what_lies_in_it(address: str, network: str) -> None:
    assert is_permitted(ip_address(address), (ip_network(network),))


@pytest.mark.parametrize(
    ("address", "network"), [("10.1.2.3", "10.2.0.0/16"), ("::1", "127.0.0.0/8"), ("127.0.0.1", "::/0")]
)
def test_a_listed_network_permits_nothing_else(address: str, network: str) -> None:
    assert not is_permitted(ip_address(address), (ip_network(network),))


def test_what_is_permitted_keeps_its_order() -> None:
    resolved = ["10.0.0.1", "93.184.215.14", "127.0.0.1", "1.1.1.1"]
    assert permitted_addresses(resolved, ()) == ("93.184.215.14", "1.1.1.1")
