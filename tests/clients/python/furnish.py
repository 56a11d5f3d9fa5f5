"""Fills the database of the service that the clients' tests call; prints what they need as JSON."""

from __future__ import annotations

import json
from uuid import uuid4

import django


def furnish() -> dict[str, object]:
    """A producer that may do everything, its key, dead letters, alerts, messages of an inbox."""
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import DeadLetter, Producer, Recipient  # noqa: PLC0415 - models need Django set up
    from notifications.core.rules import access  # noqa: PLC0415 - models need Django set up
    from notifications.core.rules.lane import Mode, Priority  # noqa: PLC0415 - models need Django set up
    from notifications.core.rules.scopes import Scope  # noqa: PLC0415 - models need Django set up
    from notifications.core.store.postgres import api_keys  # noqa: PLC0415 - models need Django set up
    from providers.contract import Channel  # noqa: PLC0415 - models need Django set up

    producer = Producer.objects.create(name="orders", may_send_content=True)
    poor = Producer.objects.create(
        name="slow", may_send_content=True, rate_per_second=1, rate_burst=2
    )
    everything = frozenset(scope.wildcard for scope in Scope)
    scopes = everything - frozenset(access.useless(everything, Mode.LIVE))
    person = Recipient.objects.create(user_id="maria", mode=Mode.LIVE)
    letters = [
        DeadLetter.objects.create(
            delivery_id=uuid4(),
            mode=Mode.LIVE,
            priority=Priority.P2,
            channel=Channel.EMAIL,
            producer_id=producer.pk,
            recipient_id=person.pk,
            reason="permanent",
            snapshot={},
            created_at=clock.now(),
        ).pk
        for _ in range(6)
    ]
    return {
        "key": api_keys.issue(producer, mode=Mode.LIVE, scopes=scopes)[1],
        "own_keys": [api_keys.issue(producer, mode=Mode.LIVE, scopes=scopes)[1] for _ in range(3)],
        "narrow_key": api_keys.issue(producer, mode=Mode.LIVE, scopes=["notifications:read"])[1],
        "slow_key": api_keys.issue(poor, mode=Mode.LIVE, scopes=scopes)[1],
        "letters": letters,
        "messages": {user_id: _messages(user_id) for user_id in ("inbox-sync", "inbox-async")},
        "token_secret": _token_secret(producer.name),
        "alerts": _alerts(),
    }


def _messages(user_id: str) -> list[str]:
    """Two in the inbox of a new recipient."""
    from notifications.core.models import Recipient  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - models need Django set up
    from tests.features.inbox import inboxes  # noqa: PLC0415 - models need Django set up

    person = Recipient.objects.create(user_id=user_id, mode=Mode.LIVE)
    return [str(each) for each in inboxes.add_messages(person.pk, 2)]


def _token_secret(name: str) -> str:
    """A secret that signs recipient tokens of the producer."""
    from notifications.core.models import Producer  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - models need Django set up
    from notifications.core.store.recipient_tokens import token_secrets  # noqa: PLC0415 - models need Django set up

    return token_secrets.create(Producer.objects.get(name=name), mode=Mode.LIVE)[1]


def _alerts() -> list[int]:
    """Two open ones."""
    from notifications.core.models import Alert  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules.alerts import AlertKind  # noqa: PLC0415 - models need Django set up
    from notifications.core.store.postgres import alerts  # noqa: PLC0415 - models need Django set up

    for number in range(2):
        alerts.raise_once(AlertKind.BEAT_DEAD, str(number), "for the test")
    return list(Alert.objects.values_list("pk", flat=True))


if __name__ == "__main__":
    django.setup()
    print(json.dumps(furnish()))  # noqa: T201 - it is a command
