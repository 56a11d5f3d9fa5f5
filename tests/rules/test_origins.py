"""Origins are kept as browsers send them."""

from __future__ import annotations

import pytest

from notifications.core.rules import origins


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        (" HTTPS://Shop.Example:443 ", "https://shop.example"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://shop.example:8443", "https://shop.example:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("capacitor://localhost", "capacitor://localhost"),
        ("https://xn--mnchen-3ya.example", "https://xn--mnchen-3ya.example"),
        ("*", "*"),
    ],
)
def test_an_origin_is_normalized(text: str, origin: str) -> None:
    assert origins.normalize(text) == origin
    assert origins.normalize(origin) == origin


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "null",
            "shop.example",
            "https://",
            "https://shop.example/",
            "https://shop.example/a",
        ),
        *("https://user@shop.example", "https://shop.example?x", "https://shop.example#x"),
        *("https://*.shop.example", "https://*", "**", "https://münchen.example"),
        *("https://shop.example:0x1", "https://shop.example:99999", "https://shop.example:"),
        *("https://a.example\nX: y", "https://a.example\r\nX: y", "https://a example"),
        "https://" + "a" * 255,
    ],
)
def test_another_text_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(ValueError, match="write scheme://host"):
        origins.normalize(text)


def test_the_value_of_the_header_comes_from_the_list() -> None:
    allowed = {"https://shop.example"}
    assert origins.header_value("https://shop.example", allowed) == "https://shop.example"
    for other in ("", "null", "*", "https://shop.example.evil", "HTTPS://SHOP.EXAMPLE"):
        assert not origins.header_value(other, allowed)
    assert origins.header_value("null", {"*"}) == "*"
    assert origins.header_value("*", {"*"}) == "*"
    assert not origins.header_value("", {"*"})


def test_the_origin_of_a_url() -> None:
    assert origins.of_url("https://notify.example/base") == "https://notify.example"
