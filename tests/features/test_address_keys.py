"""Python and the database compute one key of an address, and a key is found again as itself."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from django.db import connection

from notifications.core.rules import addresses
from notifications.core.rules.suppression import address_fault
from notifications.core.store.postgres import contact_addresses
from providers.contract import Channel
from tests.api.conftest import forget, new_caller

_LOCAL: Final = (
    *(
        "maria",
        "MARIA+Tag",
        "m.a",
        "o'n",
        '"Q q"',
        "ma..ria",
        "a{b",
        "İI",
        "\u0131",
        "ẞ",
        "ß",
        "ΑΣ",
    ),
    *("jürgen", "JÜRGEN", "\u017f", "ǅ", "ﬃ", "\uff21", "a\u0307", "\u2126", "A\u030a"),
)
_DOMAINS: Final = (
    *("faß.example", "FASS.example", "xn--fa-hia.example", "İstanbul.example", "ΑΣ.example"),
    *(
        "a.example.",
        "a..example",
        "bücher。example",
        "ex\u00adample.com",
        "ﬁ.example",
        "\u017f.example",
    ),
    *("例え.テスト", "१२३.भारत", "XN--A.example", "a_b.example", "[1.2.3.4]", "☃.net", "ẞ.example"),
    *(
        "क\u094d\u200dष.example",
        "A\u030a.example",
        "\u212bngstrom.example",
        "localhost",
        "\u00b5.example",
    ),
)
_COUNTRIES: Final = (
    *("+52", "+521", "+52044", "+54", "+549", "+5411", "+54911", "+540", "+55", "+5511", "+55119"),
    *("+551178", "+550", "+49", "+490", "+4900", "+39", "+390", "+1", "+7", "+44", "+61", "+225"),
)
_FULL_WIDTH: Final = {ord("0") + digit: 0xFF10 + digit for digit in range(10)}
_ARABIC: Final = {ord("0") + digit: 0x0660 + digit for digit in range(10)}
_KEYS: Final = (
    '"keys":{"p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6S'
    'RpkNtoIAiw4","auth":"BTBZMqHH6r4Tts7J_aSIgg"}'
)
_ENDPOINTS: Final = (
    *("https://push.example/a", r"https:\/\/push.example\/a", r"https:\u002f\u002fpush.example/a"),
    *("https://PUSH.example/a", r"https://push.example/\u0061"),
)


def _mailboxes() -> Iterator[str]:
    for local, domain in itertools.product(_LOCAL, _DOMAINS):
        yield from (
            f"{local}@{domain}",
            f" {local}@{domain.upper()} ",
            f"{local.title()}\uff20{domain}",
        )


def _numbers() -> Iterator[str]:
    """Yield numbers around the lengths of each plan, the same ones each time."""
    for country, length, place in itertools.product(_COUNTRIES, range(3, 13), range(20)):
        seed = f"{country} {length} {place}".encode()
        digits = f"{int.from_bytes(hashlib.sha256(seed).digest()):020d}"[-length:]
        number = country + digits
        yield from (number, number.translate(_FULL_WIDTH), number.translate(_ARABIC))
        yield f"{number[:3]} ({number[3:5]}) {number[5:]}"


def _devices() -> Iterator[str]:
    for each in _ENDPOINTS:
        endpoint = f'"endpoint":"{each}"'
        other = '"endpoint":"https://other.example/"'
        yield from (
            *(f"{{{endpoint},{_KEYS}}}", f"{{{_KEYS},{endpoint}}}"),
            *(
                f"{{{_KEYS}, {endpoint.replace(':', ' : ', 1)} }}",
                f"{{{other},{_KEYS},{endpoint}}}",
            ),
            f'{{"x":{{{other}}},{_KEYS},{endpoint}}}',
        )
    yield from ('x"endpoint":"y"', '"endpoint": "q"', '[{"endpoint":"z"}]', "token")


_SPELLINGS: Final = {
    Channel.EMAIL: tuple(_mailboxes()),
    Channel.SMS: tuple(_numbers()),
    Channel.PUSH: tuple(_devices()),
    Channel.CHAT: ("tgram://1/2", "mmost://Host/Token", "#ROOM", "\uff03雑談", "İ", "-100123"),
}


def _of_database(channel: Channel, spelled: Sequence[str]) -> list[str]:
    with connection.cursor() as running:
        running.execute(
            "SELECT suppressible(%s, address) FROM unnest(%s::text[]) WITH ORDINALITY"
            " AS a(address, place) ORDER BY place",
            [int(channel), list(spelled)],
        )
        return [key for (key,) in running.fetchall()]


def _stored(channel: Channel, written: str) -> str:
    """Return the stored form; empty for an address that no door takes."""
    try:
        return contact_addresses.normalize(channel, written)
    except ValueError:
        return ""


@pytest.mark.django_db
@pytest.mark.parametrize("channel", _SPELLINGS)
def test_each_spelling_has_one_key_in_python_and_in_the_database(channel: Channel) -> None:
    taken = {each: stored for each in _SPELLINGS[channel] if (stored := _stored(channel, each))}
    keys = [addresses.key(channel, each) for each in taken.values()]
    assert len(taken) > 5
    assert _of_database(channel, list(taken.values())) == keys
    assert [addresses.search_key(channel, each) for each in taken] == keys
    assert [_stored(channel, each) for each in taken.values()] == list(taken.values())
    assert [addresses.search_key(channel, each) for each in keys] == keys


@pytest.mark.django_db
@pytest.mark.parametrize("channel", [Channel.SMS, Channel.EMAIL])
def test_the_list_finds_each_of_its_addresses_again(channel: Channel) -> None:
    listed = [each for each in _SPELLINGS[channel] if not address_fault(channel, each)]
    keys = [addresses.search_key(channel, each) for each in listed]
    assert len(listed) > 100
    assert _of_database(channel, keys) == keys
    assert [addresses.search_key(channel, each) for each in keys] == keys


@pytest.mark.django_db
@pytest.mark.parametrize("device", [each for each in _devices() if not each.startswith("{")])
def test_a_device_is_registered_twice_without_a_fault(device: str) -> None:
    forget()
    api = new_caller()
    contact = {"channel": "push", "address": device}
    for _ in range(2):
        answer = api.send("PUT", "/v1/recipients/maria", {"contacts": [contact]})
        assert answer.status_code in (200, 201), answer.content
        assert api.post("/v1/recipients/maria/contacts", contact).status_code in (200, 201)
    forget()


@pytest.mark.django_db
def test_a_look_up_by_key_calls_no_function_and_uses_the_index() -> None:
    with connection.cursor() as running:
        running.execute("SET LOCAL enable_seqscan = off")
        running.execute(
            "EXPLAIN SELECT FROM notifications_contact c"
            " WHERE suppressible(c.channel, c.address) = 'maria@example.com'"
        )
        plan = "\n".join(line for (line,) in running.fetchall())
    assert "contact_by_key" in plan
    assert "suppressible" not in plan
