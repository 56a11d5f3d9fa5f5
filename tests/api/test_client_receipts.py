"""A recipient's app reports on its own deliveries, through the real URL table and database."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import orjson
import psycopg
import pytest
from django.test import Client
from django.test.utils import override_settings

from notifications.core import clock
from notifications.core.feedback import client_receipts, delivery_receipts
from notifications.core.models import Contact, Delivery, Event, Recipient
from notifications.core.rules import signed_token
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.store.rate_limits import address_limits
from providers.contract import Channel, Receipt, ReceiptKind
from tests.api.conftest import Caller, MakeCaller

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply

PATH = "/v1/receipts/client"
DAY = dt.timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_limits_of_another_test() -> Iterator[None]:
    address_limits.forget()
    yield
    address_limits.forget()


@pytest.fixture
def ana(caller: Caller) -> Recipient:
    """A recipient with two devices and a mailbox."""
    return _recipient(caller, "ana")


@pytest.fixture
def token(caller: Caller, ana: Recipient) -> str:
    return _token(caller, ana.user_id)


def _recipient(caller: Caller, user_id: str) -> Recipient:
    contacts = [
        {"channel": "push", "kind": "fcm_token", "address": f"{user_id}-phone"},
        {"channel": "push", "kind": "fcm_token", "address": f"{user_id}-tablet"},
        {"channel": "email", "address": f"{user_id}@example.com"},
    ]
    answer = caller.send("PUT", f"/v1/recipients/{user_id}", {"contacts": contacts})
    assert answer.status_code == 201, answer.content
    return Recipient.objects.get(user_id=user_id, mode=caller.mode)


def _token(caller: Caller, user_id: str, **options: int) -> str:
    answer = caller.post(f"/v1/recipients/{user_id}/client-tokens", options)
    assert answer.status_code == 201, answer.content
    assert answer.headers["Cache-Control"] == "no-store"
    text: str = answer.json()["token"]
    return text


def _sent(caller: Caller, person: Recipient, *channels: str) -> list[Delivery]:
    """A notification whose deliveries a provider has accepted."""
    body = {
        "user_id": person.user_id,
        "type": "ORDER_SHIPPED",
        "priority": "P2",
        "channels": list(channels or ("push",)),
        "delivery": "all",
        "content": {"title": "Hello", "body": "On its way"},
    }
    answer = caller.post("/v1/notifications", body)
    assert answer.status_code == 202, answer.content
    rows = [UUID(each["delivery_id"]) for each in answer.json()["deliveries"]]
    changed = {"status": Status.SENT, "provider": "fcm", "attempts": 1, "due_at": None}
    Delivery.objects.filter(pk__in=rows).update(**changed)
    return list(Delivery.objects.filter(pk__in=rows).order_by("pk"))


def _post(token: str, receipts: Sequence[dict[str, object]]) -> Reply:
    raw = orjson.dumps({"receipts": receipts})
    headers = {"Authorization": f"Bearer {token}"}
    return Client().post(PATH, raw, content_type="application/json", headers=headers)


def _matched(token: str, *receipts: dict[str, object]) -> int:
    answer = _post(token, receipts)
    assert answer.status_code == 200, answer.content
    said: dict[str, int] = answer.json()
    assert said["receipts"] == len(receipts)
    return said["matched"]


def _state(delivery: Delivery) -> tuple[Status, str]:
    row = Delivery.objects.get(pk=delivery.pk)
    return Status(row.status), row.reason


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("received", Status.DELIVERED),
        ("dismissed", Status.DELIVERED),
        ("opened", Status.READ),
        ("clicked", Status.READ),
    ],
)
def test_a_report_names_its_delivery_and_the_reason_tells_what_the_app_saw(
    caller: Caller, ana: Recipient, token: str, kind: str, status: Status
) -> None:
    phone, tablet = _sent(caller, ana)
    occurred_at = clock.now() - dt.timedelta(seconds=30)
    report = {"delivery_id": tablet.pk, "kind": kind, "occurred_at": occurred_at.isoformat()}
    assert _matched(token, report) == 1
    assert _state(tablet) == (status, f"client_{kind}")
    assert _state(phone)[0] is Status.SENT
    assert Event.objects.get(reason=f"client_{kind}").occurred_at == occurred_at
    assert _matched(token, report) == 0, "a repeat changes nothing"


def test_a_notification_stands_for_its_push_and_a_repeat_finds_the_same_device(
    caller: Caller, ana: Recipient, token: str
) -> None:
    phone, tablet, mail = _sent(caller, ana, "push", "email")
    Delivery.objects.filter(pk=phone.pk).update(status=Status.FAILED)
    report = {"notification_id": mail.notification_id, "kind": "received"}
    assert [_matched(token, report), _matched(token, report)] == [1, 0]
    assert [_state(each)[0] for each in (phone, tablet, mail)] == [
        *(Status.FAILED, Status.DELIVERED, Status.SENT),
    ]


def test_a_notification_with_a_single_delivery_stands_for_that_on_any_channel(
    caller: Caller, ana: Recipient, token: str
) -> None:
    [mail] = _sent(caller, ana, "email")
    assert _matched(token, {"notification_id": mail.notification_id, "kind": "opened"}) == 1
    assert _state(mail) == (Status.READ, "client_opened")


def test_of_several_reports_for_one_delivery_the_more_telling_counts(
    caller: Caller, ana: Recipient, token: str
) -> None:
    phone, _ = _sent(caller, ana)
    kinds = ("clicked", "received", "opened", "dismissed")
    assert _matched(token, *({"delivery_id": phone.pk, "kind": kind} for kind in kinds)) == 1
    told = Event.objects.filter(reason__startswith="client_").order_by("seq")
    assert [each.reason for each in told] == ["client_dismissed", "client_clicked"]


def test_nobody_reports_on_anothers_message_nor_learns_that_it_exists(
    caller: Caller, token: str
) -> None:
    other = _recipient(caller, "bob")
    theirs = _sent(caller, other)
    reports: list[dict[str, object]] = [
        {"delivery_id": theirs[0].pk, "kind": "clicked"},
        {"notification_id": theirs[0].notification_id, "kind": "opened"},
        {"delivery_id": uuid4(), "kind": "opened"},
        {"notification_id": uuid4(), "kind": "received"},
        {"notification_id": UUID(int=2**128 - 1), "kind": "received"},
        {"notification_id": UUID(int=0), "kind": "received"},
    ]
    known, unknown = _post(token, reports[:1]), _post(token, reports[2:3])
    assert known.content == unknown.content
    assert _matched(token, *reports) == 0
    assert {_state(each)[0] for each in theirs} == {Status.SENT}
    assert not Contact.objects.filter(client_receipt_at__isnull=False).exists()


@pytest.mark.parametrize("of", [Mode.LIVE, Mode.TEST])
def test_a_token_of_one_mode_does_not_touch_the_other(make_caller: MakeCaller, of: Mode) -> None:
    callers = {mode: make_caller(mode=mode) for mode in (Mode.LIVE, Mode.TEST)}
    rows = {mode: _sent(each, _recipient(each, "ana")) for mode, each in callers.items()}
    token = _token(callers[of], "ana")
    reports: list[dict[str, object]] = [
        {"delivery_id": each.pk, "kind": "opened"} for both in rows.values() for each in both
    ]
    assert _matched(token, *reports) == len(rows[of])
    for mode, both in rows.items():
        wanted = Status.READ if mode is of else Status.SENT
        assert {_state(each)[0] for each in both} == {wanted}


def test_a_message_that_was_never_called_for_is_not_delivered(
    caller: Caller, ana: Recipient, token: str
) -> None:
    phone, _ = _sent(caller, ana)
    Delivery.objects.filter(pk=phone.pk).update(status=Status.QUEUED, attempts=0)
    assert _matched(token, {"delivery_id": phone.pk, "kind": "opened"}) == 0
    assert _state(phone)[0] is Status.QUEUED


def test_the_guard_of_the_transition_holds_by_itself(
    caller: Caller, ana: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lookup that returns the row of another recipient changes no row."""
    phone, _ = _sent(caller, ana)
    found = [{"place": 0, "id": phone.pk, "contact_id": None}]
    monkeypatch.setattr(client_receipts, "_targets", lambda _reported: found)
    stranger = _token(caller, _recipient(caller, "bob").user_id)
    assert _matched(stranger, {"delivery_id": phone.pk, "kind": "opened"}) == 0
    assert _state(phone)[0] is Status.SENT


@pytest.mark.parametrize("first", ["client", "provider"])
def test_receipts_of_app_and_provider_end_in_one_status_whichever_comes_first(
    caller: Caller, ana: Recipient, token: str, first: str
) -> None:
    phone, _ = _sent(caller, ana)
    report = Receipt(kind=ReceiptKind.DELIVERED, delivery_id=phone.pk)
    if first == "provider":
        assert delivery_receipts.record("fcm", [report]) == 1
    assert _matched(token, {"delivery_id": phone.pk, "kind": "opened"}) == 1
    assert delivery_receipts.record("fcm", [report]) == 0
    assert _state(phone) == (Status.READ, "client_opened")


def test_a_contact_remembers_its_last_receipt_once_a_day(
    caller: Caller, ana: Recipient, token: str
) -> None:
    phone, tablet = _sent(caller, ana)
    _matched(token, {"delivery_id": phone.pk, "kind": "received"})
    contact = Contact.objects.get(client_receipt_at__isnull=False)
    assert contact.pk == phone.contact_id != tablet.contact_id
    for age, changes in ((DAY / 2, False), (2 * DAY, True)):
        before = clock.now() - age
        Contact.objects.filter(pk=contact.pk).update(client_receipt_at=before)
        _matched(token, {"delivery_id": phone.pk, "kind": "opened"})
        contact.refresh_from_db()
        assert (contact.client_receipt_at != before) is changes


def test_a_hundred_receipts_take_as_many_statements_as_two(
    caller: Caller, ana: Recipient, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[object] = []
    execute = psycopg.Cursor.execute

    def counted(self: psycopg.Cursor[Any], query: Any, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - psycopg's signature
        statements.append(query)
        return execute(self, query, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", counted)
    monkeypatch.setattr(clock, "monotonic", lambda: 1_000_000.0)  # no cache of a second ends
    counts = []
    _post(token, [])  # the process keeps the recipient
    for size in (1, 50):
        rows = [each for _ in range(size) for each in _sent(caller, ana)]
        reports: list[dict[str, object]] = [
            {"delivery_id": each.pk, "kind": kind}
            for each, kind in zip(rows, ("received", "opened") * size, strict=True)
        ]
        statements.clear()
        assert _matched(token, *reports) == 2 * size
        counts.append(len(statements))
    # The lookup, two transitions, the inbox, the contacts, and the secrets that nobody needs.
    assert counts == [6, 6], statements


def test_a_hundred_and_one_are_refused(token: str) -> None:
    report: dict[str, object] = {"delivery_id": uuid4(), "kind": "received"}
    assert _post(token, [report] * 100).status_code == 200
    assert _post(token, [report] * 101).status_code == 422


@pytest.mark.parametrize(
    "report",
    [
        {"kind": "received"},
        {"kind": "received", "delivery_id": str(UUID(int=1)), "notification_id": str(UUID(int=1))},
        {"kind": "bounced", "delivery_id": str(UUID(int=1))},
        {"kind": "received", "delivery_id": "1"},
        {"kind": "received", "delivery_id": str(UUID(int=1)), "occurred_at": "2026-11-20T12:00:00"},
        {"kind": "received", "delivery_id": str(UUID(int=1)), "occurred_at": 1_793_000_000},
    ],
)
def test_a_report_that_is_wrong_is_a_problem_that_points_at_it(
    token: str, report: dict[str, object]
) -> None:
    answer = _post(token, [report])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/receipts/0")


def test_a_wrong_clock_of_a_phone_loses_no_receipt(
    caller: Caller, ana: Recipient, token: str
) -> None:
    phone, tablet = _sent(caller, ana)
    for row, at in ((phone, "1970-01-01T00:00:00Z"), (tablet, "9999-12-31T23:59:59-12:00")):
        report = {"delivery_id": row.pk, "kind": "received", "occurred_at": at}
        assert _matched(token, report) == 1
    told = caller.get(f"/v1/notifications/{phone.notification_id}").json()
    assert [each["stages"][-1]["source"] for each in told["deliveries"]] == ["service"] * 2


def test_a_token_ends_by_time(
    caller: Caller, ana: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    phone, _ = _sent(caller, ana)
    token, report = _token(caller, "ana", expires_in_seconds=60), {"delivery_id": phone.pk}
    later = clock.now() + dt.timedelta(seconds=61)
    monkeypatch.setattr(clock, "now", lambda: later)
    answer = _post(token, [report | {"kind": "opened"}])
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
    assert _state(phone)[0] is Status.SENT


@pytest.mark.parametrize("seconds", [0, 59, 86_401, -1])
def test_a_token_lasts_from_a_minute_to_a_day(caller: Caller, ana: Recipient, seconds: int) -> None:
    body = {"expires_in_seconds": seconds}
    answer = caller.post(f"/v1/recipients/{ana.user_id}/client-tokens", body)
    assert answer.status_code == 422


def test_an_unknown_recipient_gets_no_token(caller: Caller, make_caller: MakeCaller) -> None:
    _recipient(make_caller(mode=Mode.TEST), "tester")
    assert caller.post("/v1/recipients/tester/client-tokens", {}).status_code == 404


def test_neither_a_producers_key_nor_another_signed_token_is_a_client_token(
    caller: Caller, ana: Recipient, token: str
) -> None:
    with override_settings(SECRET_KEY="another-key", SECRET_KEY_FALLBACKS=[]):
        forged = _token(caller, "ana")
    facts = (int(Mode.LIVE), ana.pk, int(clock.now().timestamp()) + 60)
    key = signed_token.key("only-for-tests", purpose="notifications.client_receipts")
    body, _, signature = token.partition(".")
    wrong = ["", "x", caller.secret, forged, signed_token.write(facts, key=key)]
    wrong += [f"{body}.", f"{body[:-2]}AA.{signature}", "\u00e4.\u00e4"]
    for each in wrong:
        assert _post(each.encode().decode("latin-1"), [{"kind": "opened"}]).status_code == 401
    assert caller.post(PATH, {}).status_code == 401
    assert Client(headers={"Authorization": f"Bearer {token}"}).get("/v1/me").status_code == 401


def test_a_key_that_signed_before_still_verifies(caller: Caller, ana: Recipient) -> None:
    phone, _ = _sent(caller, ana)
    with override_settings(SECRET_KEY="older-key", SECRET_KEY_FALLBACKS=[]):
        old = _token(caller, "ana")
    with override_settings(SECRET_KEY="newer-key", SECRET_KEY_FALLBACKS=["older-key"]):
        assert _matched(old, {"delivery_id": phone.pk, "kind": "opened"}) == 1


def test_a_browser_may_call_from_any_origin_and_no_other_path_says_so(token: str) -> None:
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    preflight = Client().options(PATH, headers=asked)
    assert (preflight.status_code, preflight.content) == (204, b"")
    allowed = {name.lower(): value for name, value in preflight.headers.items()}
    assert allowed["access-control-allow-origin"] == "*"
    assert allowed["access-control-allow-methods"] == "POST"
    assert allowed["access-control-allow-headers"] == "authorization, content-type"
    assert "access-control-allow-credentials" not in allowed
    for answer in (_post(token, []), _post("wrong", [])):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    for other in ("/v1/receipts/sandbox", "/v1/recipients/ana/client-tokens", "/v1/me"):
        refused = Client().options(other, headers=asked)
        assert "Access-Control-Allow-Origin" not in refused.headers
        assert refused.status_code in {401, 405}
    assert Client().get(PATH).status_code == 405


def test_each_recipient_has_a_limit_of_its_own_and_wrong_tokens_one_by_address(
    caller: Caller, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
    monkeypatch.setattr(address_limits, "_BURST_SECONDS", 1)
    other = _token(caller, _recipient(caller, "bob").user_id)
    report: dict[str, object] = {"delivery_id": uuid4(), "kind": "received"}
    assert [_post(token, [report]).status_code for _ in range(11)] == [200] * 10 + [429]
    second, third = _token(caller, "ana"), _token(caller, "ana")
    assert {_post(second, [report]).status_code for _ in range(10)} == {200}, "refusals cost"
    assert _post(third, [report]).status_code == 429, "the recipient's limit"
    assert _post(other, [report]).status_code == 200
    assert [_post("wrong", [report]).status_code for _ in range(21)][-1] == 429
    assert _post(other, [report]).status_code == 200, "a valid token passes"


def test_the_body_is_small() -> None:
    raw = b" " * (64 * 1024 + 1)
    assert Client().post(PATH, raw, content_type="application/json").status_code == 413


def test_an_email_beside_a_push_is_no_message_of_the_app(
    caller: Caller, ana: Recipient, token: str
) -> None:
    _, _, mail = _sent(caller, ana, "push", "email")
    assert mail.channel == Channel.EMAIL
    Delivery.objects.exclude(pk=mail.pk).update(attempts=0)
    assert _matched(token, {"notification_id": mail.notification_id, "kind": "opened"}) == 0
    assert _state(mail)[0] is Status.SENT
