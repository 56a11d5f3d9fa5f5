"""Short links lead where the text said, and their clicks are people's as far as one can tell."""

from __future__ import annotations

from uuid import UUID

import pytest

from notifications.core.rules.texts.short_links import (
    TOKEN_LENGTH,
    is_a_person,
    is_target,
    replace_links,
    token,
)
from providers.sms import gsm7

LONG = "https://shop.example/a/very/long/way/to/go?order=4521"
SHORT = "https://s.example/l/1"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (f"See {LONG}.", f"See {SHORT}."),
        (f"({LONG}) and {LONG}!", f"({SHORT}) and {SHORT}!"),
        (f"{LONG}\n", f"{SHORT}\n"),
        ("https://a.example", "https://a.example"),  # it is short as it is
        ("ftp://shop.example/" + "x" * 50, "ftp://shop.example/" + "x" * 50),
        ("https://[::1" + "x" * 50, "https://[::1" + "x" * 50),
        ("no links", "no links"),
        (f"{LONG}_(Rome)", SHORT),
        (f"(see {LONG}_(Rome)).", f"(see {SHORT})."),
        (f"{LONG}]]", f"{SHORT}]]"),
        (f"请看{LONG}\uff0c谢谢", f"请看{SHORT}\uff0c谢谢"),
        (f"「{LONG}」を見て。", f"「{SHORT}」を見て。"),
        (f"“{LONG}”", f"“{SHORT}”"),
        (f"{LONG}।", f"{SHORT}।"),
        (
            f"\u2018{LONG}-what\u2019s-new\u2019, {LONG}/l\u2019été\u2019",
            f"\u2018{SHORT}\u2019, {SHORT}\u2019",
        ),
    ],
)
def test_whole_links_are_replaced_where_that_is_shorter(text: str, result: str) -> None:
    assert replace_links(text, lambda _link: SHORT) == result


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "//evil.example", "/path", "https://", "data:text/html,x", "http:///x"],
)
def test_a_target_is_a_whole_web_address(link: str) -> None:
    assert not is_target(link)
    assert is_target(LONG)


def test_a_link_keeps_the_brackets_that_it_opens() -> None:
    found: list[str] = []

    def shorten(link: str) -> str:
        found.append(link)
        return SHORT

    replace_links(f"({LONG}_(Rome)), {LONG}&a[]=1", shorten)
    assert found == [f"{LONG}_(Rome)", f"{LONG}&a[]=1"]


def test_a_token_is_the_same_on_each_try_and_another_for_each_link_delivery_and_key() -> None:
    first, second = UUID(int=1), UUID(int=2)
    made = {
        token(first, LONG, key=b"k"),
        token(second, LONG, key=b"k"),
        token(first, SHORT, key=b"k"),
        token(first, LONG, key=b"l"),
    }
    assert len(made) == 4
    assert token(first, LONG, key=b"k") in made
    assert all(len(each) == TOKEN_LENGTH and gsm7.fits(each) for each in made)


@pytest.mark.parametrize(
    ("method", "agent", "purpose", "counts"),
    [
        ("GET", PHONE, "", True),
        ("HEAD", PHONE, "", False),
        ("GET", PHONE, "prefetch;prerender", False),
        ("GET", "facebookexternalhit/1.1", "", False),
        ("GET", "Mozilla/5.0 (compatible; Googlebot/2.1)", "", False),
        ("GET", "WhatsApp/2.23", "", False),
        ("GET", "", "", False),
    ],
)
def test_who_says_that_it_is_a_machine_does_not_count(
    method: str, agent: str, purpose: str, *, counts: bool
) -> None:
    assert is_a_person(method=method, agent=agent, purpose=purpose) is counts
