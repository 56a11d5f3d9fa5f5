"""Resend: a notification on another channel, and a copy of a message to an operator.

Both make a new notification through the normal intake, so all gates apply. The idempotency key is
made from the source, so a double click sends one message:

    $resend-<notification>-<channel>    to the same recipient, on one channel
    $copy-<nonce of the page>           to the e-mail address of the operator
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

from cryptography.fernet import InvalidToken

from notifications.core import clock
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Notification, Producer, Template
from notifications.core.rules import attachments, channels, in_app_fields, request
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.templating import Rendered
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres import db, idempotency, reads, secret_variables
from notifications.core.store.postgres.idempotency import IdempotencyKey
from notifications.core.store.templates import template_cache
from providers.contract import Channel

CONSOLE: Final = "console"
"""Name of the producer of copies; the producer has no API key, so no client can use it."""
COPY_TYPE: Final = "CONSOLE_COPY"
_RESEND: Final = "resend-"


class ResendRefused(Exception):
    """A resend that cannot be made; the message names the cause."""


def to_channel(notification: Notification, channel: Channel) -> UUID:
    """Send a notification once more on a channel; returns the id of the new notification.

    A second call for the same channel returns the first notification, as long as idempotency keys
    are kept.

    Raises:
        ResendRefused: the content or the contact is missing, or the intake refused the request.
        django.db.Error: no row was stored.
    """
    earlier = resent_as(notification, channel)
    if earlier is not None:
        return earlier
    body = _body(notification, channel)
    caller = Caller(
        producer_id=notification.producer_id,
        mode=Mode(notification.mode),
        priorities=frozenset(Priority),
        may_send_content=True,
    )
    return _accept(caller, _name(notification, channel), body)


def resent_as(notification: Notification, channel: Channel) -> UUID | None:
    """Return the notification that an earlier resend made; None without a kept key."""
    key = IdempotencyKey(
        notification.producer_id,
        Mode(notification.mode),
        request.RESERVED_KEYS + _name(notification, channel),
    )
    [answers] = db.fetch_all([idempotency.first_answers([key])])
    found = [each.response for each in answers if each.key == key and each.response]
    return UUID(found[0]["notification_id"]) if found else None


def source_of(notification: Notification) -> UUID | None:
    """Return the notification that a resend repeats; None for any other notification."""
    prefix = f"{request.RESERVED_KEYS}{_RESEND}"
    if not notification.idempotency_key.startswith(prefix):
        return None
    return UUID(notification.idempotency_key.removeprefix(prefix)[: len(str(notification.id))])


def send_copy(rendered: Rendered, *, of: Notification, address: str, nonce: str) -> UUID:
    """Send a text by e-mail to an operator, in the mode of the notification; returns the id.

    Args:
        rendered: the text, with sensitive variables masked.
        of: the notification of the text.
        address: the e-mail address of the operator's account.
        nonce: of the page; the same nonce sends one copy.

    Raises:
        ResendRefused: the address is invalid, or the intake refused the request.
        django.db.Error: no row was stored.
    """
    producer, _ = Producer.objects.get_or_create(name=CONSOLE)
    caller = Caller(
        producer_id=producer.pk,
        mode=Mode(of.mode),
        priorities=frozenset({Priority.P1}),
        may_send_content=True,
        may_register=True,
        by=CONSOLE,
    )
    text = rendered.body or rendered.title or "The message has an HTML part only."
    body = {
        "to": {"email": address},
        "type": COPY_TYPE,
        "priority": Priority.P1.name,
        "channels": [Channel.EMAIL.label],
        "content": {
            "title": rendered.title or f"Copy of {of.type}",
            "body": text,
            "html": rendered.html,
        },
    }
    return _accept(caller, f"copy-{nonce}", body)


def _accept(caller: Caller, name: str, body: dict[str, Any]) -> UUID:
    asked = request.own(name, body)
    if isinstance(asked, Problem):
        raise ResendRefused(_sentence(asked))
    [answer] = accept.accept(caller, [asked])
    if isinstance(answer, Refused):
        raise ResendRefused(_sentence(answer.problem))
    return UUID(answer.response["notification_id"])


def _sentence(problem: Problem) -> str:
    if problem.kind is Kind.KEY_REUSED:
        return "The same message was resent a moment ago."
    fields = "; ".join(f"{error.pointer} {error.detail}" for error in problem.errors)
    return f"The intake refused the message: {problem.detail}{f' ({fields})' if fields else ''}."


def _name(notification: Notification, channel: Channel) -> str:
    return f"{_RESEND}{notification.id}-{channel.label}"


def _body(notification: Notification, channel: Channel) -> dict[str, Any]:
    """Build the request.

    Raises:
        ResendRefused: the content or the contact is missing.
    """
    if notification.priority == Priority.P0 and notification.expires_at <= clock.now():
        raise ResendRefused(
            "The time to live of a P0 is over: an old security message must not arrive."
        )
    _check_contact(notification, channel)
    optional = {
        "collapse_key": notification.collapse_key,
        "webhook_url": notification.webhook_url,
        "metadata": notification.metadata,
    }
    return {
        "user_id": notification.user_id,
        "type": notification.type,
        "priority": Priority(notification.priority).name,
        "channels": [channel.label],
        **{name: value for name, value in optional.items() if value},
        **in_app_fields.request_fields(notification.inbox),
        **attachments.request_fields(notification.attachments, channel),
        **_content(notification, channel),
    }


def _check_contact(notification: Notification, channel: Channel) -> None:
    found = reads.reaches(Mode(notification.mode), [notification.user_id])
    reach = found.get(notification.user_id)
    if reach is None or reach.recipient_id != notification.recipient_id:
        raise ResendRefused("The recipient was erased.")
    if channel in reach.suppressed:
        raise ResendRefused(f"The recipient's {channel.label} address is on the suppression list.")
    if not channels.contacts_on(reach, channel):
        raise ResendRefused(f"The recipient has no valid {channel.label} contact.")


def _content(notification: Notification, channel: Channel) -> dict[str, Any]:
    if notification.content is not None:
        return {"content": notification.content}
    template = Template.objects.filter(pk=notification.template or 0).first()
    if template is None:
        raise ResendRefused("The template version was deleted.")
    current = template_cache.by_name([template.template_id]).get(template.template_id)
    if current is None:
        raise ResendRefused(f"The template {template.template_id} has no published version.")
    if channel not in current.texts:
        raise ResendRefused(f"The template {template.template_id} has no text for {channel.label}.")
    return {
        "template_id": template.template_id,
        "variables": {**notification.variables, **_secrets(notification, template)},
    }


def _secrets(notification: Notification, template: Template) -> dict[str, Any]:
    missing = set(template.sensitive_variables) - set(notification.variables)
    if notification.secrets is None:
        if missing:
            raise ResendRefused(
                "The sensitive variables were wiped; the producer has to send a new message."
            )
        return {}
    try:
        return secret_variables.decrypt(bytes(notification.secrets)).reveal()
    except InvalidToken as error:
        raise ResendRefused(
            "The key of the sensitive variables is missing in NOTIFY_ENCRYPTION_KEYS."
        ) from error
