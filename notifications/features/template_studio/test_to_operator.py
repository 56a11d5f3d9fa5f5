"""Test message of a template text to the operator's own address, through the live route.

    e-mail           the address of the operator's account
    other channels   the primary contact of the recipient with this e-mail address

No other address is possible, so the right to edit templates is no right to write to people. The
message says that it is a test. An operator sends five at once, then one in a minute. A test makes
no notification: the audit log has an entry, and the provider's log the message.
"""

from __future__ import annotations

import datetime as dt
from typing import Final, cast

from django.contrib.auth.models import User
from redis.exceptions import RedisError

from notifications.core.delivery import routing
from notifications.core.models import Contact
from notifications.core.operations import single_call
from notifications.core.operations.single_call import CannotSend
from notifications.core.rules import addresses
from notifications.core.rules.lane import Mode
from notifications.core.rules.language.templating import Rendered
from notifications.core.store.postgres import audit, contacts_by_address, suppressions
from notifications.core.store.redis import state
from providers.contract import Channel

MARK: Final = "[Test] "
BURST: Final = 5
_EVERY: Final = dt.timedelta(minutes=1)
_MICROSECOND: Final = dt.timedelta(microseconds=1)


def send(user: User, words: Rendered, channel: Channel, *, template: str) -> tuple[bool, str]:
    """Send a rendered text; returns True if the provider accepted, and a sentence.

    Raises:
        CannotSend: no own address, suppressed, no provider, not on the allow-list, or too many.
    """
    address, kind = own_address(user, channel)
    if suppressions.of_address(channel, address).filter(undone_at=None).exists():
        raise CannotSend("Your address is on the suppression list.")
    message = single_call.compose(
        channel=channel,
        address=address,
        kind=kind,
        title=MARK + words.title if words.title else "",
        body=words.body if words.title else MARK + words.body,
        html=words.html,
    )
    names = [each.name for each in routing.live_providers(channel)]
    if not names:
        raise CannotSend(f"No provider is configured for {channel.label}.")
    provider = single_call.adapter(names[0], message)
    _take(user)
    by = user.get_username()
    facts = {"channel": channel.label, "address": address, "template": template}
    # Before the call, so that the log has the test even if the process dies during the call.
    audit.record_about(by, "send_template_test", object_type="template", name=template, after=facts)
    return single_call.send(provider, message)


def own_address(user: User, channel: Channel) -> tuple[str, str]:
    """Return address and kind of the operator's own contact on a channel.

    Raises:
        CannotSend: the account has no e-mail address, or no single recipient has a contact.
    """
    if not user.email:
        raise CannotSend("Your account has no e-mail address. An owner enters it under Users.")
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
            f"No recipient with your e-mail address has a {channel.label} contact."
            " Register yourself as a recipient with both."
        )
    if len(found) > 1 and found[0].recipient_id != found[1].recipient_id:
        raise CannotSend("Several recipients have your e-mail address.")
    return found[0].address, found[0].kind


def _take(user: User) -> None:
    """Count a test.

    Raises:
        CannotSend: too many tests, or the state Redis is away.
    """
    try:
        arguments: list[str | int | float | bytes] = [_EVERY / _MICROSECOND, BURST, 1]
        answers = cast("list[list[int]]", state.call("gcra", [f"test:{user.pk}"], arguments))
    except (state.Away, RedisError):
        raise CannotSend("The state Redis is away, which counts the tests.") from None
    granted, _, _, wait_us = answers[0]
    if not granted:
        seconds = max(1, round(wait_us * _MICROSECOND.total_seconds()))
        raise CannotSend(f"Too many tests. Wait {seconds} seconds.")
