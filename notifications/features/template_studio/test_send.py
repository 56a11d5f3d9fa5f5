"""Test send: the text of a draft template, sent as a notification in test mode.

The message takes the complete path (accept, lane, provider, receipt) to the sandbox, and changes no
live data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Contact, Producer, Recipient
from notifications.core.rules import in_app, request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.problems import Problem
from providers.contract import Channel
from providers.sandbox import Sandbox

WHO: Final = "template-editor"
"""Name of the producer, and user id of the recipient, of test sends."""
TYPE: Final = "TEMPLATE_TEST"
_ADDRESSES: Final = {
    Channel.PUSH: ("fcm_token", "editor-android"),
    Channel.SMS: ("", "+15552000099"),
    Channel.EMAIL: ("", "editor@sandbox.example"),
    Channel.IN_APP: ("", WHO),
    Channel.WEBHOOK: ("", "https://hooks.sandbox.example/editor"),
    Channel.CHAT: ("", "editor-room"),
}
"""Kind and address by channel; the sandbox accepts all of them."""


@dataclass(frozen=True, slots=True)
class SampleMessage:
    """An accepted test send."""

    notification_id: UUID
    page: str
    """URL of the sandbox's page; empty if another provider serves test mode."""


def send(words: Rendered, channel: Channel, *, locale: str) -> SampleMessage | Problem:
    """Send a text to the sandbox; returns a Problem for an invalid text.

    Raises:
        django.db.Error: no row was stored.
    """
    asked = request.parse({
        "user_id": WHO,
        "type": TYPE,
        "priority": Priority.P1.name,
        "channels": [channel.label],
        "content": {
            "title": words.title,
            "body": words.body,
            "html": words.html,
            **in_app.written(words.in_app),
        },
        "metadata": {"locale": locale},
    })
    if isinstance(asked, Problem):
        return asked
    _recipient(channel)
    [answer] = accept.accept(_caller(), [asked])
    if isinstance(answer, Refused):
        return answer.problem
    provider = routing.provider_named(conf.current().test_provider)
    page = provider.page if isinstance(provider, Sandbox) else ""
    return SampleMessage(UUID(answer.response["notification_id"]), page)


def _caller() -> Caller:
    # The producer has no API key, so no client can use it.
    producer, _ = Producer.objects.get_or_create(name=WHO)
    return Caller(
        producer_id=producer.pk,
        mode=Mode.TEST,
        priorities=frozenset({Priority.P1}),
        may_send_content=True,
    )


def _recipient(channel: Channel) -> None:
    kind, address = _ADDRESSES[channel]
    person, _ = Recipient.objects.get_or_create(mode=Mode.TEST, user_id=WHO)
    Contact.objects.get_or_create(
        recipient=person,
        channel=channel,
        address=address,
        defaults={"kind": kind, "is_primary": True},
    )
