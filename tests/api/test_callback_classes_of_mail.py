"""A callback of each class of each mail service, over HTTP: the delivery, the contact, the list."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Final
from uuid import UUID

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import routing
from notifications.core.models import (
    Contact,
    Delivery,
    Producer,
    Suppression,
    WebhookEndpoint,
    WebhookMessage,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import suppressions
from notifications.core.webhooks import fan_out
from providers import registry
from providers.contract import Channel
from providers.email.anymail.services import SERVICES
from tests.api.callback_classes import EFFECTS, CallbackClass, CallbackRow, Event
from tests.api.mail_posts import MESSAGE_ID, SNS, SentMail, post, provider_of, settings
from tests.api.mail_rows import MAIL
from tests.providers.aws.signed_posts import SnsServer
from tests.store.stored_rows import MakeDelivery, make_delivery

__all__ = ["make_delivery"]

ADDRESS: Final = "Maria.Capital@Mailbox.example"
LISTED: Final = ADDRESS.lower()
NO_LIST = "tells no class of its lists: its word is blocked"
NO_GROUPS = "groups and lists belong to campaigns, not to single mails"
NO_REMOVALS = "posts nothing when an address leaves its lists"
NO_FLAG = "flags no machine: the user agent decides"
ABSENT: Final[Mapping[str, Mapping[CallbackClass, str]]] = {
    "brevo": {
        CallbackClass.SUPPRESSED: NO_LIST,
        CallbackClass.COMPLAINED_BEFORE: NO_LIST,
        CallbackClass.OPTED_OUT_BEFORE: NO_LIST,
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.REMOVED: NO_REMOVALS,
    },
    "mailgun": {
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.REMOVED: NO_REMOVALS,
    },
    "mailjet": {
        CallbackClass.SUPPRESSED: "preblocked has several reasons",
        CallbackClass.OPTED_OUT_BEFORE: "preblocked has several reasons",
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.REMOVED: NO_REMOVALS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "mailtrap": {
        CallbackClass.SUPPRESSED: "reject has several reasons",
        CallbackClass.COMPLAINED_BEFORE: "reject has several reasons",
        CallbackClass.OPTED_OUT_BEFORE: "reject has several reasons",
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.REMOVED: NO_REMOVALS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "mandrill": {CallbackClass.LEFT_GROUP: NO_GROUPS, CallbackClass.MACHINE_FLAGGED: NO_FLAG},
    "postal": {
        **dict.fromkeys((CallbackClass.DEAD, CallbackClass.FULL), "a bounce has no class"),
        **dict.fromkeys(
            (
                CallbackClass.SUPPRESSED,
                CallbackClass.COMPLAINED_BEFORE,
                CallbackClass.OPTED_OUT_BEFORE,
            ),
            "its list is a message that is held, without a result",
        ),
        **dict.fromkeys((CallbackClass.COMPLAINED, CallbackClass.OPTED_OUT), "no such event"),
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.REMOVED: NO_REMOVALS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "postmark": {
        CallbackClass.OPTED_OUT_BEFORE: "refused in the answer (406), without a callback",
        CallbackClass.LEFT_GROUP: "a person leaves a message stream: the class is opted out",
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "resend": {
        CallbackClass.OPTED_OUT: NO_GROUPS,
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        **dict.fromkeys(
            (CallbackClass.COMPLAINED_BEFORE, CallbackClass.OPTED_OUT_BEFORE),
            "one list: email.suppressed",
        ),
        CallbackClass.REMOVED: NO_REMOVALS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "sendgrid": {},
    "ses": {
        CallbackClass.OPTED_OUT: "Subscription is about contact lists, which are not used here",
        CallbackClass.LEFT_GROUP: "Subscription is about contact lists, which are not used here",
        CallbackClass.REMOVED: NO_REMOVALS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
    "sparkpost": {
        **dict.fromkeys(
            (
                CallbackClass.SUPPRESSED,
                CallbackClass.COMPLAINED_BEFORE,
                CallbackClass.OPTED_OUT_BEFORE,
            ),
            "policy_rejection of class 25 has several reasons",
        ),
        CallbackClass.LEFT_GROUP: NO_GROUPS,
    },
    "unisender_go": {
        **dict.fromkeys(
            (CallbackClass.SUPPRESSED, CallbackClass.COMPLAINED_BEFORE),
            "err_skip_letter has several reasons",
        ),
        CallbackClass.LEFT_GROUP: NO_GROUPS,
        CallbackClass.MACHINE_FLAGGED: NO_FLAG,
    },
}
"""Classes that the documents of a service do not have, and why."""
NO_CALLBACKS: Final = {
    "scaleway": "anymail has no view for its webhooks",
    "smtp": "the server answers, and bounces go to the envelope's sender",
}

pytestmark = pytest.mark.filterwarnings(
    "ignore::anymail.exceptions.AnymailNotSupportedWarning"  # of SendGrid
)
of_every_row = pytest.mark.parametrize("row", MAIL, ids=str)


@pytest.fixture(autouse=True)
def _sns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Certificates of SNS come from a server of the test."""
    with closing(SnsServer(SNS)) as server:
        build = functools.partial(registry.build_all, transport=server)
        monkeypatch.setattr(registry, "build_all", build)
        yield
        server.stop()
    routing.forget()


@pytest.fixture
def endpoint(db: None) -> WebhookEndpoint:  # noqa: ARG001 - pytest-django asks for it by name
    Producer.objects.get_or_create(id=1, defaults={"name": "orders"})
    return WebhookEndpoint.objects.create(
        producer_id=1, mode=Mode.LIVE, url="https://shop.example/hook"
    )


def sent_by(vendor: str, make: MakeDelivery, monkeypatch: pytest.MonkeyPatch) -> SentMail:
    """Configure a service, and store a delivery that it has accepted."""
    for name, value in settings(vendor).items():
        monkeypatch.setenv(name, value)
    routing.forget()
    delivery_id = make(
        Status.SENT, provider=provider_of(vendor), attempts=1, provider_message_id=MESSAGE_ID
    )
    Contact.objects.update(address=ADDRESS)
    return SentMail(delivery_id, ADDRESS, clock.now() + dt.timedelta(seconds=5))


def state(delivery_id: UUID) -> tuple[Status, Cause | None, bool]:
    listed = Suppression.objects.filter(channel=Channel.EMAIL, address=LISTED, undone_at=None)
    reason = listed.values_list("reason", flat=True)
    cause = Cause(reason.get()) if reason else None
    is_dead = Contact.objects.get().invalidated_at is not None
    return Status(Delivery.objects.get(pk=delivery_id).status), cause, is_dead


@of_every_row
@pytest.mark.usefixtures("endpoint")
def test_each_class_has_its_effect_and_a_repeat_has_none(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch, row: CallbackRow
) -> None:
    sent = sent_by(row.vendor, make_delivery, monkeypatch)
    for _ in range(2):
        answer = post(row.vendor, row.event, sent)
        assert answer.status_code == 200, answer.content
        assert state(sent.delivery_id) == row.effect
    told = WebhookMessage.objects.filter(type="contact.invalidated")
    assert told.count() == row.effect.is_dead
    if row.effect.is_dead:
        provider = provider_of(row.vendor)
        assert Contact.objects.get().invalid_reason.startswith(f"{provider}: ")


@pytest.mark.parametrize(
    "row", [each for each in MAIL if each.said is CallbackClass.REMOVED], ids=str
)
@pytest.mark.parametrize("cause", [Cause.BOUNCE, Cause.UNSUBSCRIBE_ALL])
def test_the_vendors_removal_ends_what_the_vendor_reported(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch, row: CallbackRow, cause: Cause
) -> None:
    sent = sent_by(row.vendor, make_delivery, monkeypatch)
    before = CallbackClass.DEAD if cause is Cause.BOUNCE else CallbackClass.OPTED_OUT
    [reported] = [each for each in MAIL if (each.vendor, each.said) == (row.vendor, before)]
    post(row.vendor, reported.event, sent)
    assert state(sent.delivery_id) == reported.effect
    old = sent._replace(at=clock.now() - dt.timedelta(minutes=1))
    post(row.vendor, row.event, old)
    assert state(sent.delivery_id) == reported.effect, "a removal before the report ends nothing"
    post(row.vendor, row.event, sent)
    ended = {
        "mandrill": {Cause.BOUNCE},
        "postmark": {Cause.BOUNCE, Cause.UNSUBSCRIBE_ALL},
    }.get(row.vendor, {Cause.UNSUBSCRIBE_ALL})
    _, listed, is_dead = state(sent.delivery_id)
    assert (listed, is_dead) == ((None, False) if cause in ended else reported.effect[1:])


@pytest.mark.parametrize("cause", [Cause.COMPLAINT, Cause.MANUAL, Cause.UNSUBSCRIBE_ALL])
def test_the_vendors_removal_leaves_what_others_entered(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch, cause: Cause
) -> None:
    sent = sent_by("postmark", make_delivery, monkeypatch)
    entry = suppressions.SuppressionEntry(channel=Channel.EMAIL, address=ADDRESS, cause=cause)
    suppressions.add([entry], by="operator")
    [row] = [
        each for each in MAIL if (each.vendor, each.said) == ("postmark", CallbackClass.REMOVED)
    ]
    post("postmark", row.event, sent)
    assert state(sent.delivery_id)[1] is cause


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("said", "types"),
    [
        (CallbackClass.DELIVERED, {"notification.delivered"}),
        (CallbackClass.OPENED, {"notification.read"}),
        (CallbackClass.DEAD, {"notification.failed", "contact.invalidated"}),
        (CallbackClass.FULL, {"notification.failed"}),
        (CallbackClass.OUR_FAULT, {"notification.failed"}),
        (CallbackClass.COMPLAINED, {"notification.read", "contact.invalidated"}),
        (CallbackClass.MACHINE_NAMED, set()),
    ],
    ids=lambda each: str(each) if isinstance(each, CallbackClass) else "",
)
@pytest.mark.usefixtures("endpoint")
def test_the_producer_learns_of_each_effect(
    make_delivery: MakeDelivery,
    monkeypatch: pytest.MonkeyPatch,
    said: CallbackClass,
    types: set[str],
) -> None:
    sent = sent_by("postmark", make_delivery, monkeypatch)
    [row] = [each for each in MAIL if (each.vendor, each.said) == ("postmark", said)]
    while fan_out.work_off():
        pass
    WebhookMessage.objects.all().delete()
    post("postmark", row.event, sent)
    while fan_out.work_off():
        pass
    assert set(WebhookMessage.objects.values_list("type", flat=True)) == types


def test_each_service_has_a_row_for_each_class_or_a_reason_why_not() -> None:
    with_callbacks = {name for name, each in SERVICES.items() if each.view} | {"ses"}
    assert with_callbacks == set(ABSENT)
    assert SERVICES.keys() - with_callbacks == NO_CALLBACKS.keys() - {"smtp"}
    assert set(EFFECTS) == set(CallbackClass)
    for vendor, absent in ABSENT.items():
        there = [each.said for each in MAIL if each.vendor == vendor]
        assert len(there) == len(set(there))
        assert set(there) | set(absent) == set(CallbackClass), vendor
        assert not set(there) & set(absent), vendor


def test_a_forged_callback_of_a_class_has_no_effect(
    make_delivery: MakeDelivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = sent_by("postmark", make_delivery, monkeypatch)
    event: Event = {"RecordType": "Bounce", "Type": "HardBounce", "Metadata": sent.metadata}
    answer = Client().post("/v1/receipts/anymail", event, content_type="application/json")
    assert answer.status_code == 401
    assert state(sent.delivery_id) == (Status.SENT, None, False)
