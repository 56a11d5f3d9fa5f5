"""Why a delivery is where it is, in a sentence for who has a caller on the phone.

The column `reason` holds a word of the machine's. A word that is not here is shown as it is: it
comes from a provider (`receipt:bounced`, `throttled: 429`) and says enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from notifications.pipeline import admit, cap, gates
from notifications.rules.channels import Stop
from notifications.rules.retries import GiveUp
from notifications.rules.times.deferral import Cause

SENTENCES: Final[Mapping[str, str]] = {
    "scheduled": "its producer wants it to leave at this time",
    Cause.DO_NOT_DISTURB: "the person does not want to be disturbed now",
    Cause.QUIET_HOURS: "it is a quiet hour of the person's",
    Cause.PRODUCERS_NIGHT: "nobody knows the person's timezone, and it is night at the producer's",
    cap.CAP: "the person has had as many on this channel as their cap allows",
    cap.AWAY: "nobody can tell how many the person has had: the state store is away",
    gates.ORDER: "an earlier message of the same ordering key goes first",
    admit.BREAKER: "the provider fails, and rests",
    admit.BUCKET: "the provider takes no more at the moment",
    "no_provider": "no provider takes this channel",
    "provider_misconfigured": "the provider refuses our account, not this message",
    Stop.OPTED_OUT: "the person switched off this channel, or this kind of message",
    Stop.NO_CONTACT: "there is no valid address on this channel",
    Stop.CAPPED: "the person has had as many as their cap allows, and this kind is not kept",
    Stop.DIGESTED: "a digest stands for it",
    Stop.SUPPRESSION_LIST: "the address is on the suppression list",
    Stop.NOT_ALLOWED: "this environment may not reach this person",
    "permanent": "the provider refused it for good",
    "render_error": "its template failed",
    "poison": "its workers died again and again",
    GiveUp.EXHAUSTED: "every attempt failed",
    GiveUp.TTL: "its time to live ended before the next attempt",
    "unanswered": "the provider did not answer: it may have been sent",
    "closed_unanswered": "the provider never answered: it may have been sent",
    "worker_lost": "its worker died in the middle of it",
}
"""Reason -> what it means."""


def sentence(reason: str) -> str:
    """What a reason means; the reason itself where there is nothing to add."""
    return SENTENCES.get(reason, reason)
