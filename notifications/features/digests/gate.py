"""Holds of e-mails for the recipient's digest: daily or weekly for a topic.

A hold ends at the digest time (`rules.times.digest_times`). The sweep `digests` merges the held
e-mails. Some e-mails leave at once in spite of the choice:

    P0, P1, mandatory types       the recipient must see the message soon
    types without digest template nothing can replace the messages
    a digest                      or else it would wait for the next digest
    fallback chains               the next channel depends on the e-mail
    messages with ordering key    later messages of the key would wait
    attachments                   the digest would not have the files
    sensitive variables           the variables are wiped at the end of the time to live
    a shorter time to live        the producer gave `ttl_seconds`, and the digest comes later
    after a provider call         the message may have been sent
"""

from __future__ import annotations

import datetime as dt

from notifications.core import conf
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.outcomes import Decision
from notifications.core.rules.reasons import Reason
from notifications.core.rules.times import digest_times
from notifications.core.rules.times.digest_times import (
    DIGEST_CHANNEL,
    DIGEST_PRIORITIES,
    DigestChoice,
)
from notifications.core.rules.transitions import HOLD
from notifications.core.store.cached import notification_types


def hold(claimed: ClaimedDelivery, now: dt.datetime) -> Decision | None:
    """Hold an e-mail for the digest that the recipient chose for the topic."""
    if not claimed.destination.digests:
        return None
    until = _digest_time(claimed, now)
    if until is None:
        return None
    # The worker does not publish the row again: the sweep `digests` takes the row.
    detail = f"till {until:%Y-%m-%d %H:%M} UTC"
    return Decision(transition=HOLD, reason=Reason.DIGEST, detail=detail, due_in=until - now)


def _digest_time(claimed: ClaimedDelivery, now: dt.datetime) -> dt.datetime | None:
    """Return the digest time of a delivery; None: the delivery leaves now."""
    if not _may_wait(claimed):
        return None
    notification = claimed.notification
    choice = digest_times.choice_of(
        claimed.destination.digests, type_=notification.type, category=notification.category
    )
    if choice is DigestChoice.AT_ONCE:
        return None
    begins = notification.begins_at
    until = digest_times.leaves_at(choice, timezone=claimed.destination.timezone, after=begins)
    usual = conf.current().times_to_live[claimed.delivery.priority]
    lives = until < notification.expires_at or digest_times.has_usual_life(
        begins, notification.expires_at, usual=usual
    )
    return until if lives and until > now else None


def _may_wait(claimed: ClaimedDelivery) -> bool:
    delivery, notification = claimed.delivery, claimed.notification
    rule = notification_types.every().get(notification.type)
    return (
        delivery.channel is DIGEST_CHANNEL
        and delivery.priority in DIGEST_PRIORITIES
        and rule is not None
        and bool(rule.digest_template)
        and not rule.is_mandatory
        and not notification.is_digest
        and not delivery.falls_back
        and not notification.ordering_key
        and notification.sealed is None
        and not notification.attachments
        and not (delivery.attempts or delivery.attempts_before or delivery.resent)
    )
