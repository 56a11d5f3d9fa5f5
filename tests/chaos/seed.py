"""The rows that a run needs before its first request.

Each person has one address on each of the run's channels, a timezone (so that no P3 waits for a
producer's morning) and no wishes.
"""

from __future__ import annotations

from typing import Final

from notifications.core import clock
from notifications.core.models import Contact, NotificationType, Producer, Recipient
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.templates import contents
from notifications.core.store.postgres import api_keys, partitions
from notifications.core.store.templates import versions
from notifyproj.devstack.ports import LOOPBACK
from providers.contract import Channel
from tests.chaos.people import TEMPLATE, TYPE, user_id
from tests.chaos.plans import CHANNELS

_PRODUCER: Final = "chaos"
_AREA: Final = "+5511"
_RANGES: Final = range(940, 1_000)
"""Ranges of mobile numbers of Sao Paulo; each is a prefix of SMS pumping protection."""
_ENDPOINTS: Final = 60


def fill(people: int, webhook_port: int) -> str:
    """Make producer, type, template and people; returns the producer's key."""
    partitions.ensure(clock.now().date())
    producer = Producer.objects.create(name=_PRODUCER, rate_per_second=100_000, rate_burst=100_000)
    NotificationType.objects.create(name=TYPE, priority=Priority.P2, category="chaos")
    words = (
        contents.words(channel, "en", title="{{ token }}", body="Your word is {{ token }}.")
        for channel in CHANNELS
    )
    draft = versions.draft(TEMPLATE, contents.content(words), by=_PRODUCER)
    versions.publish(draft, by=_PRODUCER)
    recipients = Recipient.objects.bulk_create(
        Recipient(mode=Mode.LIVE, user_id=user_id(number), timezone="UTC")
        for number in range(people)
    )
    Contact.objects.bulk_create(
        Contact(
            recipient=recipient,
            channel=channel,
            kind="fcm_token" if channel is Channel.PUSH else "",
            address=_address(channel, number, webhook_port),
            is_primary=True,
        )
        for number, recipient in enumerate(recipients)
        for channel in CHANNELS
    )
    _, secret = api_keys.issue(producer, mode=Mode.LIVE, scopes=["notifications:*"])
    return secret


def _address(channel: Channel, number: int, webhook_port: int) -> str:
    match channel:
        case Channel.SMS:
            return f"{_AREA}{_RANGES[number % len(_RANGES)]}{number:06}"
        case Channel.EMAIL:
            return f"person-{number}@chaos.example"
        case Channel.WEBHOOK:
            return f"http://{LOOPBACK}:{webhook_port}/hooks/{number % _ENDPOINTS}"
        case _:
            return f"device-{number}-{'x' * 140}"
