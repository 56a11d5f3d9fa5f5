"""The unsubscribe link: which mail has one, and what following it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.delivery import batch, deliver, render, unsubscribe_links
from notifications.core.delivery.render import Lookups
from notifications.core.feedback import unsubscribe
from notifications.core.feedback.unsubscribe import Choice
from notifications.core.intake.accept import Caller
from notifications.core.models import (
    Delivery,
    NotificationType,
    Suppression,
    Template,
    TemplateText,
)
from notifications.core.rules import request
from notifications.core.rules.lane import Priority
from notifications.core.rules.problems import Problem
from notifications.core.rules.states import Status
from notifications.core.store.cached import notification_types
from notifications.core.store.postgres import claims
from providers.contract import Channel, Message
from tests.journey import Accept, Reach, deliveries_of

Outbox = Callable[[UUID], list[Any]]


def message_of(delivery: Delivery) -> Message:
    """What would be sent."""
    claim = claims.claim([delivery.pk], now=clock.now())
    [ready] = batch.load(claim).deliveries
    return render.message(ready, Lookups([ready], now=clock.now()))


def link_of(delivery: Delivery) -> str:
    """What a mail of this delivery says in its headers."""
    return message_of(delivery).unsubscribe_url


@pytest.fixture
def footer(caller: Caller) -> str:  # noqa: ARG001 - its world comes first
    """A template whose body has a link of its own, where there is one."""
    made = Template.objects.create(template_id="news")
    body = "News.{% if unsubscribe_url %} Leave: {{ unsubscribe_url }}{% endif %}"
    for channel in (Channel.EMAIL, Channel.SMS):
        TemplateText.objects.create(template=made, channel=channel, body=body)
    Template.objects.filter(pk=made.pk).update(published_at=clock.now())
    return made.template_id


def test_a_body_can_name_the_same_link_as_the_header(
    reach: Reach, take: Accept, footer: str
) -> None:
    reach(email="maria@example.com")
    [delivery] = deliveries_of(take(priority="P3", template_id=footer, variables={}))
    message = message_of(delivery)
    assert message.body == f"News. Leave: {message.unsubscribe_url}"
    assert unsubscribe_links.read(message.unsubscribe_url.rpartition("/")[2], now=clock.now())


@pytest.mark.parametrize(("priority", "channel"), [("P1", "email"), ("P3", "sms")])
def test_a_body_that_names_the_link_does_without_where_there_is_none(
    reach: Reach, take: Accept, footer: str, priority: str, channel: str
) -> None:
    reach(email="maria@example.com", sms="+4915112345678")
    asked = {"template_id": footer, "variables": {}, "channels": [channel]}
    [delivery] = deliveries_of(take(priority=priority, **asked))
    assert message_of(delivery).body == "News."


def test_no_producer_sends_the_link_of_its_own() -> None:
    said = {"user_id": "maria", "type": "LIKE", "template_id": "news"}
    refused = request.parse({**said, "variables": {"unsubscribe_url": "https://evil.example"}})
    assert isinstance(refused, Problem)
    [error] = refused.errors
    assert error.pointer == "/variables"
    assert "evil" not in error.detail


@pytest.mark.parametrize("priority", ["P2", "P3"])
def test_marketing_and_social_mail_names_the_link_of_its_person(
    reach: Reach, take: Accept, priority: str
) -> None:
    person = reach(email="maria@example.com")
    [delivery] = deliveries_of(take(priority=priority))
    base, _, token = link_of(delivery).rpartition("/")
    assert base == "http://testserver/unsubscribe"
    link, found = unsubscribe_links.read(token, now=clock.now())
    assert (found, link.channel, link.topic) == (person, Channel.EMAIL, "social")


@pytest.mark.parametrize(("priority", "channel"), [("P0", "email"), ("P1", "email"), ("P3", "sms")])
def test_nothing_else_names_a_link(reach: Reach, take: Accept, priority: str, channel: str) -> None:
    reach(email="maria@example.com", sms="+4915112345678")
    [delivery] = deliveries_of(take(priority=priority, channels=[channel]))
    assert not link_of(delivery)


def test_leaving_a_kind_of_message_stops_what_is_queued_but_no_code(
    reach: Reach, take: Accept, outbox: Outbox
) -> None:
    person = reach(email="maria@example.com")
    [like] = deliveries_of(take())
    [code] = deliveries_of(take(priority="P0"))
    link = unsubscribe_links.Link(recipient_id=person.pk, channel=Channel.EMAIL, topic="social")
    unsubscribe.leave(link, Choice.TOPIC)
    deliver.deliver([like.pk])
    deliver.deliver([code.pk])
    like.refresh_from_db()
    assert (like.status, like.reason) == (Status.SUPPRESSED, "opted_out")
    assert outbox(code.pk)


@pytest.mark.usefixtures("outbox")
def test_a_message_without_a_category_is_left_by_its_type(reach: Reach, take: Accept) -> None:
    NotificationType.objects.create(name="POLL", priority=Priority.P3)
    notification_types.forget()
    person = reach(email="maria@example.com")
    [poll], [like] = deliveries_of(take(type="POLL")), deliveries_of(take())
    link = unsubscribe_links.Link(recipient_id=person.pk, channel=Channel.EMAIL, topic="POLL")
    unsubscribe.leave(link, Choice.TOPIC)
    deliver.deliver([poll.pk, like.pk])
    poll.refresh_from_db()
    like.refresh_from_db()
    assert poll.reason == "opted_out"
    assert like.status == Status.SENT


def test_leaving_the_channel_suppresses_every_address_there(reach: Reach) -> None:
    person = reach(email=["a@example.com", "b@example.com"], sms="+4915112345678")
    link = unsubscribe_links.Link(recipient_id=person.pk, channel=Channel.EMAIL, topic="social")
    unsubscribe.leave(link, Choice.CHANNEL)
    unsubscribe.leave(link, Choice.CHANNEL)
    found = Suppression.objects.order_by("address")
    assert [(row.address, row.reason) for row in found] == [
        ("a@example.com", "unsubscribe_all"),
        ("b@example.com", "unsubscribe_all"),
    ]
