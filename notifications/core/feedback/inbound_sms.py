"""Inbound texts: STOP and START change the suppression list; other texts are only logged.

STOP puts the number on the suppression list, which stops all messages to the number on the channel
of the text (SMS; chat for WhatsApp), P0 included, in each spelling of the number
(`rules.addresses`). START removes the entry of STOP and no other entry. A START without an entry is
stored as an undone entry, so a later report of an earlier STOP does not count. The vendor's own
reading of a text (Twilio's `OptOutType`) decides before the words, because an account may have
keywords of its own. A vendor repeats a text after a lost response, perhaps after the next text. The
id of each STOP and START is therefore stored, and a repeat has no effect.

HELP is logged without a reply, because a reply would be a second text. Twilio replies by default on
long codes and toll-free numbers (support.twilio.com 223181748). AWS replies on every number without
`SelfManagedOptOutsEnabled`. The text of the reply is configured at the vendor. For other numbers (a
Twilio short code outside a messaging service, a self-managed AWS number) the reply is configured
with the number, because carriers approve its text together with the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, assert_never

import structlog
from django.db import transaction

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.models.suppression import LONGEST_NOTE
from notifications.core.rules import addresses
from notifications.core.rules.redaction import address_hash
from notifications.core.rules.suppression import Cause, address_fault, keyword_in
from notifications.core.store.postgres import db, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import InboundText, Keyword

_log = structlog.get_logger(__name__)

_LONGEST_ID: Final = 255


def process(provider: str, texts: Sequence[InboundText]) -> int:
    """Process texts; returns the number of suppression list changes. Safe to run twice.

    Texts of a sandbox that serves only test mode are ignored: test mode must not change live data.
    """
    settings = conf.current()
    changed = 0
    for text in texts:
        live = {each.name for each in routing.live_providers(text.channel)}
        if provider == settings.test_provider and provider not in live:
            continue
        keyword = text.keyword or keyword_in(text.text)
        number = addresses.usable_form(text.channel, text.from_address)
        # Senders can also be short codes and names, which are not phone numbers.
        is_number = not address_fault(text.channel, text.from_address)
        effect = is_number and _process(provider, text, keyword)
        changed += effect
        _log.info(
            "text_received",
            provider=provider,
            keyword=keyword or "",
            address_hash=address_hash(number, key=settings.hash_key),
            changed=effect,
        )
    return changed


def _process(provider: str, text: InboundText, keyword: Keyword | None) -> bool:
    if keyword is None or keyword is Keyword.HELP:
        return False
    with transaction.atomic():
        message_id = text.provider_message_id
        if message_id and not remember_text(provider, message_id):
            return False
        return _update_suppressions(provider, text, keyword)


def _update_suppressions(
    provider: str, text: InboundText, keyword: Literal[Keyword.STOP, Keyword.START]
) -> bool:
    number, note = text.from_address, f"text {text.provider_message_id}"[:LONGEST_NOTE]
    match keyword:
        case Keyword.STOP:
            cause = Cause.STOP_KEYWORD
            suppressions.lock([(text.channel, number)])
            entry = SuppressionEntry(channel=text.channel, address=number, cause=cause, note=note)
            return suppressions.add([entry], by=provider, provider=provider) > 0
        case Keyword.START:
            by, cause = f"the recipient, {provider}", Cause.STOP_KEYWORD
            return suppressions.come_back(text.channel, number, cause=cause, by=by, note=note)
        case _:
            assert_never(keyword)


def remember_text(provider: str, message_id: str) -> bool:
    """Store the id of a text in the open transaction; False for a repeated id.

    With two concurrent calls for one id, the second waits for the transaction of the first.
    """
    text = {"provider": provider, "message_id": message_id[:_LONGEST_ID]}
    return db.run("remember_text", text) > 0
