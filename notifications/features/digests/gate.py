"""Holds for digests: by the choice of the recipient, or for the batch window of a type.

    choice         e-mails of a topic, daily or weekly (`rules.times.digest_times`)
    batch window   each channel; the first message to a recipient opens the window. A window that
                   would end in quiet hours ends after the quiet hours

The sweep `digests` merges the held messages. Some messages leave at once:

    P0, P1, mandatory types       the recipient must see the message soon
    types without digest template nothing can replace the messages
    a digest                      or else it would wait for the next digest
    fallback chains               the next channel depends on the message
    messages with ordering key    later messages of the key would wait
    attachments                   the digest would not have the files
    sensitive variables           the variables are wiped at the end of the time to live
    a shorter time to live        the producer gave `ttl_seconds`, and the digest comes later; the
                                  batch window counts with each time to live
    after a provider call         the message may have been sent
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence

from notifications.core import conf
from notifications.core.delivery import quiet_waits
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

_LEAST_LIFE = dt.timedelta(minutes=10)
"""Least time to live after a window: for a late sweep, the queue and retries of the digest."""


def hold(
    deliveries: Sequence[ClaimedDelivery], now: dt.datetime
) -> Iterator[tuple[ClaimedDelivery, Decision]]:
    """Hold messages for a digest."""
    windows = notification_types.with_batch_window()
    for claimed in deliveries:
        if not (claimed.destination.digests or windows) or not _may_wait(claimed):
            continue
        rule = windows.get(claimed.notification.type)
        if claimed.destination.digests and (until := _digest_time(claimed)) and until > now:
            reason = Reason.DIGEST
        elif rule and (until := _window_end(claimed, rule.batch_window)) and until > now:
            reason = Reason.BATCH_WINDOW
        else:
            continue
        # The worker does not publish the row again: the sweep `digests` takes the row.
        detail = f"till {until:%Y-%m-%d %H:%M} UTC"
        held = Decision(transition=HOLD, reason=reason, detail=detail, due_in=until - now)
        yield claimed, held


def _digest_time(claimed: ClaimedDelivery) -> dt.datetime | None:
    """Return the digest time by the recipient's choice; None: the delivery leaves at once."""
    notification = claimed.notification
    choice = digest_times.choice_of(
        claimed.destination.digests, type_=notification.type, category=notification.category
    )
    if choice is DigestChoice.AT_ONCE or claimed.delivery.channel is not DIGEST_CHANNEL:
        return None
    begins = notification.begins_at
    until = digest_times.leaves_at(choice, timezone=claimed.destination.timezone, after=begins)
    usual = conf.current().times_to_live[claimed.delivery.priority]
    lives = until < notification.expires_at or digest_times.has_usual_life(
        begins, notification.expires_at, usual=usual
    )
    return until if lives else None


def _window_end(claimed: ClaimedDelivery, window: dt.timedelta) -> dt.datetime | None:
    """Return the end of the batch window; None: the time to live ends earlier.

    Quiet hours delay the end to the next morning, so a change of the quiet hours acts then. A
    do-not-disturb can last for days: the digest waits for its end, which a change can move.
    """
    end = claimed.notification.begins_at + window
    quiet = quiet_waits.wait(claimed, now=end)
    if quiet and quiet[1] is not Reason.DO_NOT_DISTURB:
        end += quiet[0]
    return end if end + _LEAST_LIFE < claimed.notification.expires_at else None


def _may_wait(claimed: ClaimedDelivery) -> bool:
    delivery, notification = claimed.delivery, claimed.notification
    rule = notification_types.every().get(notification.type)
    return (
        delivery.priority in DIGEST_PRIORITIES
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
