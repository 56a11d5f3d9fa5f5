"""Expo's push receipts: the answer of Apple or Google, which Expo keeps for a day.

    POST {url}/--/api/v2/push/getReceipts   {"ids": [ticket id, ...]}
    ->  200 {"data": {ticket id: receipt}}  without the tickets that have no receipt yet

| receipt | meaning |
| --- | --- |
| status `ok` | no news: Apple or Google took the message, which may not have arrived |
| `DeviceNotRegistered`, or another code that is dead | bounced, and the contact is dead |
| another error | failed |

The text of an error can name a device token, so only the code is kept.

Source: https://docs.expo.dev/push-notifications/sending-notifications/
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import orjson

from providers.contract import Receipt, ReceiptKind
from providers.receipt_lookup import Answer, Lookup
from providers.transport import Failure, Reply
from providers.verdicts import Verdict

LOOKUP: Final = Lookup(after=timedelta(minutes=15), kept=timedelta(days=1), per_call=1_000)
"""Expo names 15 minutes as the usual wait, a day as the life of a receipt, and 1,000 ids."""

CODE_LIMIT: Final = 64
"""Characters of an error's code."""

_STATUSES: Final = ("ok", "error")

ANSWER_LIMIT_BYTES: Final = 2 * 1024 * 1024
"""2 KB for each receipt of an answer."""


def read(
    reply: Reply, message_ids: Sequence[str], *, verdict_of: Callable[[str], Verdict | None]
) -> Answer:
    """Return the receipts of an answer; `verdict_of` reads the code of an error."""
    if isinstance(reply, Failure):
        return Answer(fault=reply.code)
    if not reply.is_success:
        return Answer(fault=f"HTTP {reply.status}")
    try:
        told = orjson.loads(reply.body)["data"]
    except (ValueError, LookupError, TypeError):
        told = None
    if not isinstance(told, dict):
        return Answer(fault="unreadable")
    known = {each: told[each] for each in message_ids if _is_receipt(told.get(each))}
    failed = {each: receipt for each, receipt in known.items() if receipt["status"] == "error"}
    receipts = [_failure(each, receipt, verdict_of) for each, receipt in failed.items()]
    return Answer(known=frozenset(known), receipts=tuple(receipts))


def _is_receipt(told: object) -> bool:
    """Return True for a receipt; a value of another form costs no other receipt."""
    return isinstance(told, dict) and told.get("status") in _STATUSES


def _failure(
    message_id: str, told: Mapping[str, object], verdict_of: Callable[[str], Verdict | None]
) -> Receipt:
    details = told.get("details")
    code = str(details.get("error", "")) if isinstance(details, dict) else ""
    verdict = verdict_of(code)
    is_dead = verdict is not None and verdict.is_dead
    return Receipt(
        kind=ReceiptKind.BOUNCED if is_dead else ReceiptKind.FAILED,
        provider_message_id=message_id,
        code=code[:CODE_LIMIT] if code.isidentifier() else "error",
        contact_is_dead=is_dead,
    )
