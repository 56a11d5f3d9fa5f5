"""A single message through an adapter: no row, no queue, no retry.

A single call checks credentials and an address. The environment's safeguards apply: the dry run and
the allow-list.
"""

from __future__ import annotations

from typing import Final

from notifications.core import clock, conf
from notifications.core.delivery import routing
from notifications.core.rules import addresses, ids
from notifications.core.rules.lane import PACE, Priority
from providers import dry_run
from providers.contract import Accepted, Channel, Message, Outcome, Provider, Rejected, Result

_PACE: Final = PACE[Priority.P1]


class CannotSend(Exception):
    """The message cannot be sent; the text has the reason, without the address."""


def compose(
    *, channel: Channel, address: str, kind: str = "", title: str = "", body: str, html: str = ""
) -> Message:
    """Build a message without a notification, to the address in its normal form."""
    notification_id = clock.new_notification_id()
    delivery_id = ids.delivery_id(notification_id, 1)
    return Message(
        delivery_id=delivery_id,
        notification_id=notification_id,
        idempotency_key=f"{delivery_id}-0",
        channel=channel,
        address=addresses.usable_form(channel, address),
        address_kind=kind,
        title=title,
        body=body,
        html=html,
        urgent=True,
        data={"type": "SEND_ONE"},
    )


def adapter(name: str, message: Message) -> Provider:
    """Return the adapter for a message.

    Raises:
        CannotSend: the adapter is not configured or does not take the message, or the allow-list
            lacks the address.
    """
    settings = conf.current()
    found = routing.provider_named(name)
    if found is None:
        raise CannotSend(
            f"{name} is not configured. These are: {', '.join(routing.providers_by_name())}."
        )
    channel, address = message.channel, message.address
    kind = message.address_kind or addresses.told_kind(channel, address)
    if not routing.takes_address(found, channel=channel, kind=kind, address=address):
        raise CannotSend(f"{name} does not take {message.channel.label} to such an address.")
    if settings.allowed and not settings.allowed.allows(user_id="", address=message.address):
        raise CannotSend("NOTIFY_ALLOWED_RECIPIENTS does not list this address.")
    return dry_run.DryRun() if settings.dry_run else found


def send(provider: Provider, message: Message) -> tuple[bool, str]:
    """Send a message now; returns True if accepted, and the outcome as a sentence.

    The call takes at most the deadline of P1.
    """
    [result] = provider.send([message], deadline=_PACE.deadline)
    return isinstance(result.outcome, Accepted), _line(provider, result)


def _line(provider: Provider, result: Result) -> str:
    milliseconds = round(result.latency.total_seconds() * 1000)
    said = f"{type(result.outcome).__name__} by {provider.name} in {milliseconds} ms"
    return " ".join(filter(None, (f"{said}.", _details(result.outcome))))


def _details(outcome: Outcome) -> str:
    if isinstance(outcome, Accepted):
        return f"Its id: {outcome.message_id}." if outcome.message_id else ""
    return " ".join(filter(None, (outcome.code, outcome.detail, _end(outcome))))


def _end(outcome: Outcome) -> str:
    if isinstance(outcome, Rejected) and outcome.contact_is_dead:
        return "The address is dead."
    if isinstance(outcome, Rejected) and outcome.has_opted_out:
        return "The person has opted out."
    return ""
