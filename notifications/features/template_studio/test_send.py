"""Test sends: the text of a draft template in test mode, or to the addresses of operators.

`send` makes a notification in test mode. The message takes the complete path (accept, lane,
provider, receipt) to the sandbox, and changes no live data.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, cast
from uuid import UUID

from django.contrib.auth.models import User
from redis.exceptions import RedisError

from notifications.core import conf
from notifications.core.delivery import attached, routing
from notifications.core.intake import accept
from notifications.core.intake.accept import Caller, Refused
from notifications.core.models import Contact, Producer, Recipient
from notifications.core.operations import single_call
from notifications.core.operations.single_call import CannotSend
from notifications.core.rules import addresses, in_app, request
from notifications.core.rules.attachments import Attachment
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.language.templating import Rendered, RenderError
from notifications.core.rules.problems import Problem
from notifications.core.store.postgres import audit, contacts_by_address, suppressions
from notifications.core.store.redis import state
from providers import message_parts
from providers.contract import Channel, Message, Provider
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

MARK: Final = "[Test] "
BURST: Final = 5
_ONE_EVERY: Final = dt.timedelta(minutes=1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)


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


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A rendered text that is sent as a test, with the files of the version for e-mails."""

    words: Rendered
    channel: Channel
    template: str
    """The name of the version, for the audit log."""
    files: Sequence[Attachment] = ()


def send_to_operator(user: User, text: MarkedText) -> tuple[bool, str]:
    """Send a text to the operator; returns True if the provider accepted, and a sentence.

    An operator sends five at once, then one in a minute. A test makes no notification: the audit
    log has an entry, and the provider's log the message.

    Raises:
        CannotSend: as `prepare`, or too many tests.
    """
    provider, message = prepare(user, text)
    take(f"test:{user.pk}")
    return call(provider, message, text, by=user.get_username())


def prepare(user: User, text: MarkedText) -> tuple[Provider, Message]:
    """Return the message to the own address of an operator, and its provider.

        e-mail           the address of the account
        other channels   the primary contact of the recipient with this e-mail address

    No other address is possible, so the right to edit templates is no right to write to people. The
    message says that it is a test.

    Raises:
        CannotSend: no own address, suppressed, no provider, not on the allow-list, or a file was
            deleted.
    """
    address, kind = own_address(user, text.channel)
    if suppressions.of_address(text.channel, address).filter(undone_at=None).exists():
        raise CannotSend("The address of the account is on the suppression list.")
    words = text.words
    message = single_call.compose(
        channel=text.channel,
        address=address,
        kind=kind,
        title=MARK + words.title if words.title else "",
        body=words.body if words.title else MARK + words.body,
        html=words.html,
    )
    if text.channel is Channel.EMAIL:
        message = replace(message, attachments=_parts(text.files))
    return single_call.adapter(_provider_of(text.channel, message), message), message


def call(provider: Provider, message: Message, text: MarkedText, *, by: str) -> tuple[bool, str]:
    """Send a prepared test; returns True if the provider accepted, and a sentence."""
    facts = {
        "channel": text.channel.label,
        "address": message.address,
        "template": text.template,
    }
    # Before the call, so that the log has the test even if the process dies during the call.
    audit.record_about(
        by, "send_template_test", object_type="template", name=text.template, after=facts
    )
    return single_call.send(provider, message)


def _parts(files: Sequence[Attachment]) -> tuple[message_parts.Attachment, ...]:
    try:
        return attached.parts_of(files)
    except RenderError as error:
        said = str(error)
        raise CannotSend(f"{said[0].upper()}{said[1:]}.") from None


def _provider_of(channel: Channel, message: Message) -> str:
    """Return the name of a provider that takes the message with its files.

    Raises:
        CannotSend: there is none.
    """
    able = routing.live_providers(channel)
    if not able:
        raise CannotSend(f"No provider is configured for {channel.label}.")
    size = sum(len(each.content) for each in message.attachments)
    has_images = any(each.inline_id for each in message.attachments)
    for each in able:
        if routing.takes_files(each, size=size, has_images=has_images):
            return each.name
    raise CannotSend(f"No provider of {channel.label} takes the files of the version together.")


def own_address(user: User, channel: Channel) -> tuple[str, str]:
    """Return address and kind of the operator's own contact on a channel.

    Raises:
        CannotSend: the account has no e-mail address, or no single recipient has a contact.
    """
    if not user.email:
        raise CannotSend("The account has no e-mail address. An owner enters it under Users.")
    if channel is Channel.EMAIL:
        return user.email, ""
    mine = contacts_by_address.of_keys([addresses.search_key(Channel.EMAIL, user.email)])
    people = mine.filter(channel=Channel.EMAIL, recipient__mode=Mode.LIVE).values("recipient")
    found = list(
        Contact.objects.filter(recipient__in=people, channel=channel, invalidated_at=None).order_by(
            "-is_primary", "pk"
        )[:2]
    )
    if not found:
        raise CannotSend(
            f"No recipient with the account's e-mail address has a {channel.label} contact."
            " Register a recipient with both."
        )
    if len(found) > 1 and found[0].recipient_id != found[1].recipient_id:
        raise CannotSend("Several recipients have the account's e-mail address.")
    return found[0].address, found[0].kind


def take(counter: str) -> None:
    """Count a test: five at once, then one in a minute.

    Raises:
        CannotSend: too many tests, or the state Redis is away.
    """
    try:
        arguments: list[str | int | float | bytes] = [_ONE_EVERY / _MICROSECOND, BURST, 1]
        answers = cast("list[list[int]]", state.call("gcra", [counter], arguments))
    except (state.Away, RedisError):
        raise CannotSend("The state Redis is away, which counts the tests.") from None
    granted, _, _, wait_us = answers[0]
    if not granted:
        seconds = max(1, round(wait_us * _MICROSECOND.total_seconds()))
        raise CannotSend(f"Too many tests. Wait {seconds} seconds.")
