"""Which addresses strangers may send us to."""

from __future__ import annotations

import pytest

from providers.errors import ForbiddenAddress
from providers.transport.guard import AddressPolicy, nat64_prefixes


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "0.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "192.0.0.8", "198.18.0.1", "192.88.99.1", "224.0.0.1", "255.255.255.255",
        "::", "::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
        "64:ff9b:1::1", "2001::1", "2002:a00:1::", "5f00::1", "2001:db8::1",
        "::10.0.0.1", "::127.0.0.1", "::ffff:0:10.0.0.1", "fec0::1", "3fff::1", "3fff:fff::1",
    ],
)  # fmt: skip
def test_private_and_disguised_addresses_are_refused(address: str) -> None:
    assert not AddressPolicy().permits(address)
    assert AddressPolicy(allow_private=True).permits(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "64:ff9b::1.1.1.1"]
)
def test_public_addresses_are_permitted(address: str) -> None:
    assert AddressPolicy().permits(address)


@pytest.mark.parametrize(
    ("prefix", "private", "public"),
    [  # RFC 6052, section 2.4, with 10.0.2.33 and 192.0.2.33 -> 1.1.1.1
        ("2606:4700::/32", "2606:4700:a00:221::", "2606:4700:101:101::"),
        ("2606:4700:100::/40", "2606:4700:10a:2:21::", "2606:4700:101:101:1::"),
        ("2606:4700:122::/48", "2606:4700:122:a00:2:2100::", "2606:4700:122:101:1:100::"),
        ("2606:4700:122:300::/56", "2606:4700:122:30a:0:221::", "2606:4700:122:301:1:101::"),
        ("2606:4700:122:344::/64", "2606:4700:122:344:a:2:2100::", "2606:4700:122:344:1:101:100::"),
        ("2606:4700:122:344::/96", "2606:4700:122:344::a00:221", "2606:4700:122:344::101:101"),
        ("64:ff9b:1::/48", "64:ff9b:1:a00:2:2100::", "64:ff9b:1:101:1:100::"),
    ],
)
def test_the_address_behind_a_nat64_prefix_of_the_network_counts(
    prefix: str, private: str, public: str
) -> None:
    policy = AddressPolicy(nat64=nat64_prefixes(prefix))
    assert not policy.permits(private)
    assert policy.permits(public)
    assert not policy.permits("64:ff9b::a00:1")


@pytest.mark.parametrize("text", ["64:ff9b::/95", "10.0.0.0/8", "64:ff9b::1/96", "x", ""])
def test_a_prefix_that_nat64_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="32, 40, 48, 56, 64 or 96 bits"):
        nat64_prefixes(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/", "ftp://example.com/", "https://", "https:///path", "example.com",
        "https://user@example.com/", "https://user:pw@example.com/", "https://example.com:22/",
        "https://example.com:0x50/", "https://127.0.0.1/", "https://[::1]/", "https://exämple.com/",
        "https://example.com/a b", "https://example.com/\n", "https://example.com\\@10.0.0.1/",
        "https://[::1/", "https://example.com/" + "a" * 2048,
    ],
)  # fmt: skip
def test_urls_of_a_dangerous_shape_are_refused_where_they_are_entered(url: str) -> None:
    with pytest.raises(ForbiddenAddress):
        AddressPolicy().check_url(url)


@pytest.mark.parametrize("url", ["https://example.com/hook?a=b", "https://example.com:8443/"])
def test_ordinary_urls_pass(url: str) -> None:
    AddressPolicy().check_url(url)


def test_a_private_installation_may_use_any_port_and_plain_http() -> None:
    AddressPolicy(allow_private=True).check_url("http://10.0.0.1:8000/hook")
    with pytest.raises(ForbiddenAddress):
        AddressPolicy(allow_private=True).check_url("file:///etc/passwd")
