"""Inbound: what people answer to our texts. STOP and START act; the rest is only counted.

STOP puts the number on the suppression list, which ends its texts for everybody who has it, P0
included; START takes exactly that entry back. A vendor that missed our answer sends a text again,
perhaps after the next one: the id of each STOP and START is stored, and a text whose id is known
changes nothing, whether the text changed anything the first time or not.

HELP is logged and not answered here. Twilio answers it by default on long codes and toll-free
numbers (support.twilio.com 223181748), AWS on every number that is not self-managed (its
`SelfManagedOptOutsEnabled`), both in words that can be set there: an answer of ours would be a
second text. Where nobody does (a short code of Twilio's outside a messaging service, a self-managed
number of AWS's), the answer is set up where the number is: carriers approve its words with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, assert_never

import structlog
from django.db import transaction

from notifications import conf
from notifications.delivery import routing
from notifications.models.suppression import LONGEST_NOTE
from notifications.rules.keywords import Keyword, keyword_in
from notifications.rules.redaction import address_hash
from notifications.rules.suppression import Cause, address_fault
from notifications.store.postgres import received_texts, suppressions
from notifications.store.postgres.suppressions import Entry
from providers.contract import Channel, InboundText

_log = structlog.get_logger(__name__)


def take(provider: str, texts: Sequence[InboundText]) -> int:
    """Act on texts; returns how many changed the suppression list. Safe to run twice.

    The sandbox's are left aside where it only serves test keys: those touch nothing live.
    """
    settings = conf.current()
    live = {each.name for each in routing.takers(Channel.SMS)}
    if provider == settings.test_provider and provider not in live:
        return 0
    changed = 0
    for text in texts:
        keyword = keyword_in(text.text)
        # Short codes and names write to us too, and are nobody's number.
        is_number = not address_fault(Channel.SMS, text.from_address)
        effect = is_number and _act(provider, text, keyword)
        changed += effect
        _log.info(
            "text_received",
            provider=provider,
            keyword=keyword or "",
            address_hash=address_hash(text.from_address, key=settings.hash_key),
            changed=effect,
        )
    return changed


def _act(provider: str, text: InboundText, keyword: Keyword | None) -> bool:
    if keyword is None or keyword is Keyword.HELP:
        return False
    with transaction.atomic():
        message_id = text.provider_message_id
        if message_id and not received_texts.remember(provider, message_id):
            return False
        return _obey(provider, text, keyword)


def _obey(provider: str, text: InboundText, keyword: Literal[Keyword.STOP, Keyword.START]) -> bool:
    number, told = text.from_address, f"text {text.provider_message_id}"[:LONGEST_NOTE]
    match keyword:
        case Keyword.STOP:
            cause = Cause.STOP_KEYWORD
            entry = Entry(channel=Channel.SMS, address=number, cause=cause, note=told)
            return suppressions.add([entry], by=provider, provider=provider) > 0
        case Keyword.START:
            rows = suppressions.of_address(Channel.SMS, number).filter(reason=Cause.STOP_KEYWORD)
            return suppressions.undo(rows, by=f"the recipient, {provider}", note=told) > 0
        case _:
            assert_never(keyword)
