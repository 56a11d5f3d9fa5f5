"""Run beside a running service: makes what a client's test needs and no operation of the API makes.

    python -m tests.clients.furnish PRODUCER WEBHOOK_URL

Prints JSON: `key` (may do everything), `letter` and `alert` (ids), `user_id` (a person with the
webhook), `messages` (ids in the inbox of the person), `secrets` (of that webhook: the current one
and the former one, both valid), `token_secret` (signs recipient tokens).
"""

from __future__ import annotations

import json
import os
import sys
from uuid import uuid4

import django


def furnish(name: str, webhook_url: str) -> dict[str, object]:
    """Make it in the database that the environment names."""
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.delivery import webhook_signing  # noqa: PLC0415 - same
    from notifications.core.models import Alert, Producer, Recipient  # noqa: PLC0415 - same
    from notifications.core.rules import access  # noqa: PLC0415 - same
    from notifications.core.rules.alerts import AlertKind  # noqa: PLC0415 - same
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - same
    from notifications.core.rules.scopes import Scope  # noqa: PLC0415 - same
    from notifications.core.store.postgres import alerts, api_keys  # noqa: PLC0415 - same
    from providers.contract import Channel  # noqa: PLC0415 - same
    from providers.standard_webhooks import Secret  # noqa: PLC0415 - same

    producer = Producer.objects.create(name=name, may_send_content=True)
    scopes = {scope.wildcard for scope in Scope}
    scopes -= set(access.useless(scopes, Mode.LIVE))
    person = Recipient.objects.create(mode=Mode.LIVE, user_id=f"{name}-webhook")
    contact = person.contacts.create(channel=Channel.WEBHOOK, address=webhook_url, is_primary=True)
    former = Secret(webhook_signing.keys_of(contact.pk, contact, now=clock.now())[0])
    current = webhook_signing.rotate(contact.pk)
    assert current is not None
    alerts.raise_once(AlertKind.BEAT_DEAD, name, "for the test")
    return {
        "key": api_keys.issue(producer, mode=Mode.LIVE, scopes=scopes)[1],
        "letter": _letter(producer.pk, person.pk),
        "messages": _messages(person.pk),
        "alert": Alert.objects.get(subject=name).pk,
        "user_id": person.user_id,
        "secrets": [current.text(), former.text()],
        "token_secret": _token_secret(name),
    }


def _letter(producer_id: int, recipient_id: int) -> int:
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import DeadLetter  # noqa: PLC0415 - same
    from notifications.core.rules.lane import Mode, Priority  # noqa: PLC0415 - same
    from providers.contract import Channel  # noqa: PLC0415 - same

    letter = DeadLetter.objects.create(
        delivery_id=uuid4(),
        mode=Mode.LIVE,
        priority=Priority.P2,
        channel=Channel.EMAIL,
        producer_id=producer_id,
        recipient_id=recipient_id,
        reason="permanent",
        snapshot={},
        created_at=clock.now(),
    )
    return letter.pk


def _messages(recipient_id: int) -> list[str]:
    from tests.features.inbox import inboxes  # noqa: PLC0415 - after Django is set up

    return [str(inboxes.add_message(recipient_id)) for _ in range(2)]


def _token_secret(name: str) -> str:
    """A secret of the producer."""
    from notifications.core.models import Producer  # noqa: PLC0415 - after Django is set up
    from notifications.core.rules.lane import Mode  # noqa: PLC0415 - same
    from notifications.core.store.recipient_tokens import token_secrets  # noqa: PLC0415 - same

    return token_secrets.create(Producer.objects.get(name=name), mode=Mode.LIVE)[1]


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    print(json.dumps(furnish(*sys.argv[1:])))  # noqa: T201 - the answer to the caller
