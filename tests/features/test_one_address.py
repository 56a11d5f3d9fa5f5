"""Two spellings of an address are one address at every door where addresses enter."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import orjson
import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from notifications.core.feedback import inbound_sms
from notifications.core.models import Contact, Recipient, Suppression
from notifications.core.rules import addresses
from notifications.core.rules.allowed import AllowList
from notifications.core.rules.suppression import Cause, address_fault
from notifications.core.store.postgres import contact_addresses, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.features.template_studio.test_send import own_address
from providers.contract import Channel, InboundText
from tests.api.conftest import Caller, forget, new_caller


class Pair(NamedTuple):
    """Two spellings of one address."""

    channel: Channel
    one: str
    other: str


_NUMBERS: Final = (
    Pair(Channel.SMS, "+525512345678", "+5215512345678"),
    Pair(Channel.SMS, "+541112345678", "+54 9 11 1234-5678"),
    Pair(Channel.SMS, "+551187654321", "+5511987654321"),
    Pair(Channel.SMS, "+4915112345678", "\u202a+49\u00a0151\u2011123\u200b45678\u202c "),
    Pair(Channel.SMS, "+4915112345678", "\uff0b\uff14\uff1915112345678"),
)
_WHATSAPP: Final = (
    Pair(Channel.CHAT, "whatsapp:+525512345678", "WhatsApp:+52 1 55 1234 5678"),
    Pair(Channel.CHAT, "whatsapp:+4915112345678", " whatsapp:+49 (151) 123-45678"),
)
_MAILBOXES: Final = (
    Pair(Channel.EMAIL, "opt.out@mailbox.example", "Opt.Out@MAILBOX.example"),
    Pair(Channel.EMAIL, "maria@faß.example", "MARIA@XN--FA-HIA.EXAMPLE"),
    Pair(Channel.EMAIL, "maria@mailbox.example", "\ufeffmaria\u200b@mailbox.example\u00a0"),
    Pair(
        Channel.EMAIL,
        "maria@mailbox.example",
        "mari\uff41\uff20mailbox\uff0eexample",
    ),
)
_AS_WELL: Final = (*_NUMBERS[:3], _MAILBOXES[0])
PAIRS: Final = (
    *_NUMBERS,
    *_MAILBOXES,
    *(Pair(pair.channel, pair.other, pair.one) for pair in _AS_WELL),
)
CONTACTS: Final = "/v1/recipients/maria/contacts"


@pytest.fixture
def api(db: None) -> Iterator[Caller]:  # noqa: ARG001 - asked for by name
    forget()
    yield new_caller()
    forget()


@pytest.fixture
def operator(db: None) -> Client:  # noqa: ARG001 - asked for by name
    client = Client()
    client.force_login(User.objects.create_superuser("operator"))
    return client


def _register(api: Caller, pair: Pair) -> Contact:
    contact = {"channel": pair.channel.label, "address": pair.one}
    answer = api.send("PUT", "/v1/recipients/maria", {"contacts": [contact]})
    assert answer.status_code == 201, answer.content
    return Contact.objects.get()


def _send(api: Caller, pair: Pair, spelling: str) -> dict[str, Any]:
    field = "phone" if pair.channel is Channel.SMS else "email"
    body = {
        "to": {field: spelling},
        "type": "HELLO",
        "priority": "P3",
        "content": {"title": "Hello", "body": "Hello"},
    }
    answer = api.post("/v1/notifications", body)
    assert answer.status_code == 202, answer.content
    said: dict[str, Any] = answer.json()
    return said


def _causes(api: Caller) -> list[str]:
    [contact] = api.get("/v1/recipients/maria").json()["contacts"]
    causes: list[str] = contact["suppressed_for"]
    return causes


@pytest.mark.parametrize("pair", [*PAIRS, *_WHATSAPP])
def test_a_contact_is_one_contact_in_both_spellings(api: Caller, pair: Pair) -> None:
    contact = _register(api, pair)
    body = {"channel": pair.channel.label, "address": pair.other}
    assert api.post(CONTACTS, body).json()["id"] == contact.pk
    assert api.send("PATCH", "/v1/recipients/maria", {"contacts": [body]}).status_code == 200
    assert api.send("PUT", "/v1/recipients/maria", {"contacts": [body]}).status_code == 200
    kept = Contact.objects.get()
    assert (kept.pk, kept.is_primary, kept.invalidated_at) == (contact.pk, True, None)


@pytest.mark.parametrize("pair", PAIRS)
def test_to_finds_the_person_by_the_other_spelling(api: Caller, pair: Pair) -> None:
    contact = _register(api, pair)
    assert _send(api, pair, pair.other)["recipient"] == {"user_id": "maria", "registered": False}
    contact.recipient.delete()
    first, second = _send(api, pair, pair.one), _send(api, pair, pair.other)
    assert first["recipient"]["user_id"] == second["recipient"]["user_id"]
    assert Recipient.objects.count() == Contact.objects.count() == 1


@pytest.mark.parametrize("pair", PAIRS)
def test_an_opt_out_by_address_holds_for_the_other_spelling(api: Caller, pair: Pair) -> None:
    said = _send(api, pair, pair.one)
    suppressions.add(
        [SuppressionEntry(channel=pair.channel, address=pair.other, cause=Cause.UNSUBSCRIBE_ALL)],
        by="the recipient",
    )
    assert [each["status"] for each in said["deliveries"]] == ["queued"]
    again = _send(api, pair, pair.other)
    assert [each["status"] for each in again["deliveries"]] == ["suppressed"]


def _by_api(api: Caller, _client: Client, pair: Pair) -> None:
    body = {"channel": pair.channel.label, "address": pair.other}
    assert api.post("/v1/suppressions", body).status_code == 201


def _file(pair: Pair) -> bytes:
    return f'channel,address\n{pair.channel.label},"{pair.other}"\n'.encode()


def _by_file(api: Caller, _client: Client, pair: Pair) -> None:
    answer = api.send("POST", "/v1/suppressions", _file(pair), media_type="text/csv")
    assert answer.json()["added"] == 1, answer.content


def _by_operator(_api: Caller, client: Client, pair: Pair) -> None:
    add = reverse("admin:notifications_suppression_add")
    given = {"channel": int(pair.channel), "address": pair.other, "note": ""}
    assert client.post(add, given).status_code == 302


def _by_upload(_api: Caller, client: Client, pair: Pair) -> None:
    page = reverse("admin:notifications_suppression_changelist")
    client.post(f"{page}upload/", {"file": SimpleUploadedFile("x.csv", _file(pair))})


SUPPRESSING: Final = (_by_api, _by_file, _by_operator, _by_upload)


@pytest.mark.parametrize("enter", SUPPRESSING)
@pytest.mark.parametrize("pair", [*PAIRS, *_WHATSAPP])
def test_a_suppression_counts_for_the_contact_in_the_other_spelling(
    api: Caller, operator: Client, pair: Pair, enter: Callable[[Caller, Client, Pair], None]
) -> None:
    _register(api, pair)
    enter(api, operator, pair)
    assert len(_causes(api)) == 1
    for spelling in (pair.one, pair.other):
        query = {"channel": pair.channel.label, "address": spelling}
        assert len(api.get("/v1/suppressions", **query).json()["results"]) == 1
    _by_api(api, operator, Pair(pair.channel, pair.other, pair.one))
    assert Suppression.objects.values("address").distinct().count() == 1


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.channel is Channel.SMS])
def test_stop_and_start_count_from_either_spelling(api: Caller, pair: Pair) -> None:
    _register(api, pair)
    for number, (spelling, word) in enumerate([(pair.other, "STOP"), (pair.one, "START")]):
        text = InboundText(
            from_address=spelling, to_address="1", text=word, provider_message_id=str(number)
        )
        assert inbound_sms.process("sandbox", [text]) == 1
        assert _causes(api) == ([Cause.STOP_KEYWORD] if word == "STOP" else [])


@pytest.mark.parametrize("pair", PAIRS)
def test_an_undone_bounce_makes_the_contact_of_the_other_spelling_valid(
    api: Caller, pair: Pair
) -> None:
    contact = _register(api, pair)
    entry = SuppressionEntry(channel=pair.channel, address=pair.other, cause=Cause.BOUNCE)
    suppressions.add([entry], by="vendor")
    Contact.objects.update(invalidated_at=contact.created_at, invalid_reason="vendor: gone")
    suppressions.undo(suppressions.of_address(pair.channel, pair.other), by="t", note="")
    contact.refresh_from_db()
    assert contact.invalidated_at is None


@pytest.mark.parametrize("pair", PAIRS)
def test_each_search_finds_the_other_spelling(api: Caller, operator: Client, pair: Pair) -> None:
    contact = _register(api, pair)
    sent = _send(api, pair, pair.one)["notification_id"]
    [hit] = api.get("/v1/search", address=pair.other).json()["results"]
    assert hit["notification_id"] == sent
    printed = io.StringIO()
    call_command("find_message", pair.other, stdout=printed)
    assert "maria" in printed.getvalue()
    for name, row in {"recipient": contact.recipient, "contact": contact}.items():
        page = reverse(f"admin:notifications_{name}_changelist")
        [found] = operator.get(page, {"q": pair.other}).context["cl"].result_list
        assert found == row
    _by_api(api, operator, pair)
    page = reverse("admin:notifications_suppression_changelist")
    for spelling in (pair.one, pair.other):
        [entry] = operator.get(page, {"q": spelling}).context["cl"].result_list
        assert entry == Suppression.objects.get()
    menu = operator.get(reverse("admin:search"), {"s": pair.other, "extended": "1"})
    assert reverse("admin:notifications_recipient_change", args=[contact.recipient_id]) in (
        menu.content.decode()
    )


def test_a_number_on_whatsapp_has_its_kind_and_another_chat_has_not(api: Caller) -> None:
    contact = _register(api, _WHATSAPP[0])
    assert (contact.address, contact.kind) == ("whatsapp:+525512345678", "whatsapp")
    for wrong in (
        {"channel": "chat", "kind": "whatsapp", "address": "slack://T/B/C"},
        {"channel": "sms", "kind": "whatsapp", "address": "+525512345678"},
        {"channel": "chat", "address": "whatsapp:+5"},
        {"channel": "chat", "address": "whatsapp:maria"},
    ):
        assert api.post(CONTACTS, wrong).status_code == 422, wrong
    assert Contact.objects.count() == 1


@pytest.mark.parametrize("pair", PAIRS)
def test_the_allow_list_takes_either_spelling(pair: Pair) -> None:
    stored = addresses.normal_form(pair.channel, pair.one)
    assert AllowList.of([pair.other.replace(" ", "")]).allows(user_id="u", address=stored)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.channel is Channel.EMAIL])
def test_an_operator_has_a_device_by_either_spelling_of_the_mailbox(
    api: Caller, pair: Pair
) -> None:
    contacts = [
        {"channel": "email", "address": pair.one},
        {"channel": "push", "address": "my-phone"},
    ]
    api.send("PUT", "/v1/recipients/maria", {"contacts": contacts})
    user = User(email=pair.other)
    assert own_address(user, Channel.PUSH) == ("my-phone", "")


@pytest.mark.parametrize("pair", PAIRS)
def test_an_erased_address_stays_suppressed_in_the_other_spelling(api: Caller, pair: Pair) -> None:
    _register(api, pair)
    _by_api(api, Client(), Pair(pair.channel, pair.one, pair.one))
    assert api.send("DELETE", "/v1/recipients/maria").status_code == 202
    said = _send(api, pair, pair.other)
    assert [each["status"] for each in said["deliveries"]] == ["suppressed"]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_database_has_the_same_key_for_each_spelling(db: None, pair: Pair) -> None:  # noqa: ARG001 - asked for by name
    stored = [addresses.normal_form(pair.channel, each) for each in pair[1:]]
    keys = {addresses.key(pair.channel, each) for each in stored}
    with connection.cursor() as running:
        for each in (*stored, "+5215512345678", "+551187654321", "+551143214321", "+551178654321"):
            running.execute("SELECT suppressible(%s, %s)", [int(pair.channel), each])
            assert running.fetchone() == (addresses.key(pair.channel, each),)
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("+551143214321", "+5511943214321"),  # a landline of São Paulo, and a mobile number
        ("+551178654321", "+5511978654321"),  # the trunked radio kept eight digits
        ("+525512345678", "+525112345678"),
        ("+541112345678", "+542112345678"),
    ],
)
def test_numbers_of_two_phones_stay_two(one: str, other: str) -> None:
    assert addresses.search_key(Channel.SMS, one) != addresses.search_key(Channel.SMS, other)


@pytest.mark.parametrize(
    ("channel", "written", "stored"),
    [
        (Channel.WEBHOOK, " HTTPS://Hooks.EXAMPLE/Path?Q=A", "https://hooks.example/Path?Q=A"),
        (Channel.CHAT, " mmost://Host/Token\u200e\n", "mmost://Host/Token"),
        (Channel.CHAT, "\uff03雑談", "\uff03雑談"),
        (Channel.PUSH, "\ufeffToken-A\r\n", "Token-A"),
        (Channel.EMAIL, "maria@نامه\u200c\u0627ی.example", "maria@xn--mgba3gch31f060k.example"),
    ],
)
def test_an_address_is_stored_without_what_was_pasted_beside_it(
    channel: Channel, written: str, stored: str
) -> None:
    assert contact_addresses.normalize(channel, written) == stored
    assert addresses.search_key(channel, written) == addresses.key(channel, stored)


@pytest.mark.parametrize("door", ["contact", "suppression", "to", "file"])
@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("maria@mail\u00a0box.example", "U+00A0 (NO-BREAK SPACE)"),
        ("maria@mailbox.example\n", "U+000A (control character)"),
    ],
)
def test_a_character_that_cannot_be_seen_is_named(
    api: Caller, door: str, written: str, name: str
) -> None:
    contact = {"channel": "email", "address": written}
    match door:
        case "contact":
            api.send("PUT", "/v1/recipients/maria", {})
            answer = api.post(CONTACTS, contact)
        case "suppression":
            answer = api.post("/v1/suppressions", contact)
        case "to":
            body = {"to": {"email": written}, "type": "T", "content": {"body": "b"}}
            answer = api.post("/v1/notifications", body)
        case _:
            raw = f'channel,address\nemail,"{written}"x\n'.encode().replace(b'"x', b'"')
            answer = api.send("POST", "/v1/suppressions", raw, media_type="text/csv")
            if written.endswith("\n"):
                return  # a cell has no surrounding space
            assert name in orjson.dumps(answer.json()["faults"]).decode()
            return
    assert answer.status_code == 422
    assert name in answer.json()["detail"]
    assert written not in answer.content.decode()


def test_the_list_takes_mailboxes_of_other_servers() -> None:
    assert not address_fault(Channel.EMAIL, "jürgen@example.com")
    assert address_fault(Channel.SMS, "+4911") == "must be an E.164 number, like +4915112345678"
