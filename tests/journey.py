"""Fixtures: a producer, a recipient, a template, and messages at the sandbox."""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final
from urllib.request import urlopen
from uuid import UUID

import orjson
import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock
from notifications.core.delivery import deliver, in_flight, routing
from notifications.core.intake import accept
from notifications.core.intake.accept import AcceptedRequest, Caller, Refused
from notifications.core.models import (
    Contact,
    Delivery,
    Notification,
    NotificationType,
    Producer,
    ProviderRoute,
    Recipient,
    Template,
    TemplateText,
)
from notifications.core.rules import ids, request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types, prices
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.redis import state
from notifications.core.store.templates import template_cache
from providers import registry
from providers.contract import Channel
from tests.vendors import AliasVendor, Scripted, ScriptedVendor

Accept = Callable[..., AcceptedRequest | Refused]
Reach = Callable[..., Recipient]
AddVendor = Callable[..., None]


@pytest.fixture
def outbox(sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[UUID], list[Any]]:
    """Route every channel to the sandbox; return a function for the messages of a delivery."""
    monkeypatch.setenv("NOTIFY_SANDBOX_URL", sandbox)
    routing.forget()

    def got(delivery_id: UUID) -> list[Any]:
        with urlopen(f"{sandbox}/messages.json?delivery_id={delivery_id}") as answer:  # noqa: S310 - loopback
            found: list[Any] = orjson.loads(answer.read())["messages"]
        return found

    return got


@pytest.fixture
def add_vendor(
    outbox: Callable[[UUID], list[Any]],  # noqa: ARG001 - its settings come first
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[AddVendor]:
    """Configure the sandbox once more under another name."""

    def add(name: str, *, url: str = "", **takes: object) -> None:
        vendor = AliasVendor(name=name, url=url, takes=takes)
        monkeypatch.setattr(registry, "VENDORS", (*registry.VENDORS, vendor))
        routing.forget()

    yield add
    routing.forget()


@pytest.fixture
def caller(db: None) -> Caller:  # noqa: ARG001 - pytest-django asks for it by name
    """Return a producer with all permissions; create one type and one template."""
    state.client().flushdb()
    circuit_breakers.forget()  # calls of the test before, which no breaker has heard of
    template_cache.forget()
    notification_types.forget()
    NotificationType.objects.create(name="LIKE", priority=Priority.P2, category="social")
    template = Template.objects.create(template_id="otp", sensitive_variables=["code"])
    for channel in (Channel.PUSH, Channel.SMS, Channel.EMAIL):
        TemplateText.objects.create(
            template=template, channel=channel, title="Hello", body="{{ name }}: {{ code }}"
        )
    Template.objects.filter(pk=template.pk).update(published_at=clock.now())
    producer = Producer.objects.create(name="tests")
    return Caller(
        producer_id=producer.pk,
        mode=Mode.LIVE,
        priorities=frozenset(Priority),
        may_send_content=True,
    )


@pytest.fixture
def reach(caller: Caller) -> Reach:
    """Return a function that creates a recipient with addresses by channel."""

    def make(user_id: str = "maria", **addresses: str | Sequence[str]) -> Recipient:
        # Known, so that no P3 waits for a producer's morning.
        person = Recipient.objects.create(mode=caller.mode, user_id=user_id, timezone="UTC")
        for label, given in addresses.items():
            several = [given] if isinstance(given, str) else given
            for position, address in enumerate(several):
                Contact.objects.create(
                    recipient=person,
                    channel=Channel.from_label(label),
                    address=address,
                    is_primary=position == 0,
                )
        return person

    return make


@contextmanager
def routed_to_scripted(monkeypatch: pytest.MonkeyPatch, channel: Channel) -> Iterator[Scripted]:
    """Route a channel to a scripted provider. Request the fixture `outbox` before."""
    provider = Scripted()
    monkeypatch.setattr(registry, "VENDORS", (*registry.VENDORS, ScriptedVendor(provider)))
    for module in (routing, in_flight, prices):
        module.forget()
    ProviderRoute.objects.create(channel=channel, provider=provider.name)
    yield provider
    for module in (routing, in_flight, prices):
        module.forget()


@pytest.fixture
def scripted(
    outbox: Callable[[UUID], list[Any]],
    reach: Reach,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Scripted]:
    """Route e-mail to the scripted provider, and create the recipient maria."""
    del outbox  # its settings come first
    with routed_to_scripted(monkeypatch, Channel.EMAIL) as provider:
        reach(email="maria@example.com")
        yield provider


@pytest.fixture
def take(caller: Caller) -> Accept:
    """Return a function that accepts one request."""
    return functools.partial(_take, caller)


def _take(caller: Caller, **fields: object) -> AcceptedRequest | Refused:
    body = {
        "user_id": "maria",
        "type": "LIKE",
        "template_id": "otp",
        "variables": {"name": "Ana", "code": "4711"},
        "channels": ["email"],
    }
    wanted = request.parse(body | fields)
    assert not isinstance(wanted, Problem), wanted
    [answer] = accept.accept(caller, [wanted])
    return answer


def deliveries_of(answer: AcceptedRequest | Refused) -> list[Delivery]:
    """Return the rows of an accepted request, in the order of the delivery numbers."""
    assert isinstance(answer, AcceptedRequest), answer
    born = [UUID(each["delivery_id"]) for each in answer.response["deliveries"]]
    return list(Delivery.objects.filter(id__in=born).order_by("id"))


def take_rows(take: Accept, count: int, **fields: object) -> list[UUID]:
    """Accept `count` notifications; return the delivery ids in the order of a claim."""
    return sorted(deliveries_of(take(**fields))[0].id for _ in range(count))


def statuses(ids: Sequence[UUID]) -> list[Status]:
    found = dict(Delivery.objects.filter(id__in=ids).values_list("id", "status"))
    return [Status(found[each]) for each in ids]


def status_and_reason(delivery_id: UUID) -> tuple[Status, str]:
    row = Delivery.objects.get(id=delivery_id)
    return Status(row.status), row.reason


def lapse(delivery_id: UUID) -> dict[str, Any]:
    """End a lease; return the row as the sweep reads the row."""
    past = clock.now() - dt.timedelta(minutes=5)
    Delivery.objects.filter(id=delivery_id).update(due_at=past)
    [columns] = Delivery.objects.filter(id=delivery_id).values()
    notification = Notification.objects.filter(id=ids.notification_of(delivery_id)).first()
    left = notification and notification.expires_at - clock.now()
    return {**columns, "retry_preset": "", "type": "LIKE", "template": None, "time_to_live": left}


CHAIN: Final = {"fallback_chain": True, "priority": "P0", "channels": ["push", "sms", "email"]}
"""Fields of a request with a fallback chain."""


def chain_of(answer: AcceptedRequest | Refused) -> list[Delivery]:
    """Return all deliveries of an accepted request, with the deliveries of later channels."""
    assert isinstance(answer, AcceptedRequest), answer
    first = UUID(answer.response["notification_id"])
    rows = Delivery.objects.filter(id__gt=first, id__lte=ids.last_delivery_of(first))
    return list(rows.order_by("id"))


def chain_statuses(answer: AcceptedRequest | Refused) -> list[tuple[str, str, str]]:
    """Return channel, status and reason of each delivery of an accepted request."""
    return [
        (Channel(row.channel).label, Status(row.status).label, row.reason)
        for row in chain_of(answer)
    ]


def deliver_chain(answer: AcceptedRequest | Refused) -> None:
    """Deliver the rows of an accepted request; retries are due at once."""
    rows = chain_of(answer)
    Delivery.objects.filter(id__in=[row.id for row in rows], status=Status.RETRYING).update(
        due_at=TransactionNow()
    )
    deliver.deliver([row.id for row in rows])
