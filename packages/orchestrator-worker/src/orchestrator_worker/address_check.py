"""Which resolved addresses may be connected to: the public ones, and the networks that an endpoint lists."""

from collections.abc import Collection, Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

# A translator behind this prefix reaches the IPv4 address in its last 32 bits (RFC 6052, section 2.1).
_NAT64 = IPv6Network("64:ff9b::/96")
# Not public by IANA's registries, whatever the tables of the Python release that runs this say of them.
_NOT_PUBLIC: tuple[Network, ...] = (
    IPv4Network("192.0.0.0/24"),
    IPv6Network("64:ff9b:1::/48"),
    IPv6Network("100::/64"),
    IPv6Network("2001:2::/48"),
    IPv6Network("2001:db8::/32"),
    IPv6Network("3fff::/20"),
    IPv6Network("5f00::/16"),
)


def permitted_addresses(resolved: Iterable[str], networks: Collection[Network]) -> tuple[str, ...]:
    """Return, in their order, the addresses that are public or listed; the others are never connected to."""
    return tuple(text for text in resolved if is_permitted(ip_address(text), networks))


def is_permitted(address: Address, networks: Collection[Network]) -> bool:
    """Judge an address by what it really reaches: an IPv4 address written as an IPv6 one counts as itself."""
    meant = _meant(address)
    if any(meant.version == network.version and meant in network for network in networks):
        return True
    if any(meant.version == network.version and meant in network for network in _NOT_PUBLIC):
        return False
    return meant.is_global and not meant.is_multicast


def _meant(address: Address) -> Address:
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if 1 < int(address) <= 0xFFFFFFFF:
        # The withdrawn "IPv4-compatible" form (RFC 4291, section 2.5.5.1).
        return IPv4Address(int(address))
    return address.ipv4_mapped or address.sixtofour or IPv6Address(int(address))
