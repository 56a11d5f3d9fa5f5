"""Ids that contain the notification and the day of a row.

A notification's id is a UUIDv7 with zeros in the last 12 bits; the id of the n-th delivery is the
notification's id plus n. Therefore a delivery needs no column or index for the notification, a
notification and its deliveries are one range of the primary key in one daily partition, and an
operator can see that `...-9c1e5f3a7001` belongs to `...-9c1e5f3a7000`.

62 random bits are left per millisecond. SQL has the same functions (`notification_of`,
`last_delivery_of`); `tests/rules/test_ids.py` compares both.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Final
from uuid import UUID

CHILD_BITS: Final = 12
MAX_DELIVERIES: Final = 2**CHILD_BITS - 1
"""Most deliveries of one notification."""
_CHILD_MASK: Final = MAX_DELIVERIES
_CHILD_DIGITS: Final = CHILD_BITS // 4
RANDOM_BITS: Final = 62
"""12 of `rand_a` and the upper 50 of `rand_b` (RFC 9562, 5.7)."""
_WITH_TIME: Final = 7
"""The version of a UUID that contains its time."""
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND: Final = dt.timedelta(milliseconds=1)
_LAST_MILLISECOND: Final = (dt.datetime(9999, 12, 30, tzinfo=dt.UTC) - _EPOCH) // _MILLISECOND


def notification_id(*, at_ms: int, entropy: int) -> UUID:
    """Make an id of `at_ms` (Unix milliseconds) from RANDOM_BITS random bits."""
    high = (at_ms & (2**48 - 1)) << 80 | 0x7 << 76 | (entropy >> 50 & 0xFFF) << 64
    low = 0b10 << 62 | (entropy & (2**50 - 1)) << CHILD_BITS
    return UUID(int=high | low)


def milliseconds(row: UUID) -> int:
    """Return the time in the id of a notification or delivery, in Unix milliseconds."""
    return row.int >> 80


def delivery_id(notification: UUID, number: int) -> UUID:
    """Return the id of a notification's `number`-th delivery, from 1 to MAX_DELIVERIES.

    Raises:
        ValueError: a number outside that range.
    """
    if not 1 <= number <= MAX_DELIVERIES:
        msg = f"a notification has 1 to {MAX_DELIVERIES} deliveries, not a {number}-th"
        raise ValueError(msg)
    return UUID(int=notification.int | number)


def delivery_text(notification: str, number: int) -> str:
    """Return the text of `delivery_id` from the text of the notification's id."""
    return f"{notification[:-_CHILD_DIGITS]}{number:0{_CHILD_DIGITS}x}"


def notification_of(delivery: UUID) -> UUID:
    """Return the notification of a delivery (a notification's own id gives itself)."""
    return UUID(int=delivery.int & ~_CHILD_MASK)


def notification_numbers(deliveries: Iterable[UUID]) -> list[int]:
    """Return the numbers (`UUID.int`) of the notifications of deliveries, in the same order."""
    return [each.int & ~_CHILD_MASK for each in deliveries]


def number_of(delivery: UUID) -> int:
    """Return the number of a delivery; 0 for a notification."""
    return delivery.int & _CHILD_MASK


def last_delivery_of(notification: UUID) -> UUID:
    """Return the highest possible delivery id of a notification."""
    return UUID(int=notification.int | _CHILD_MASK)


def time_of(any_id: UUID) -> dt.datetime:
    """Return the millisecond of the acceptance from the id of a notification.

    A foreign id can name a time outside the calendar: the last instant of the calendar counts.
    """
    return _EPOCH + min(any_id.int >> 80, _LAST_MILLISECOND) * _MILLISECOND


def time_of_claim(token: UUID | None) -> dt.datetime | None:
    """Return the millisecond of a claim from its token.

    None without a claim, and for a token of the release before, which has no time.
    """
    return time_of(token) if token is not None and token.version == _WITH_TIME else None


def day_of(any_id: UUID) -> dt.date:
    """Return the UTC day of the id's partition."""
    return time_of(any_id).date()


def floor_of(day: dt.date) -> UUID:
    """Return the lowest id of a UTC day."""
    midnight = dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)
    return UUID(int=((midnight - _EPOCH) // _MILLISECOND) << 80)


def floor_at(instant: dt.datetime) -> UUID:
    """Return the lowest id of an aware instant, to the millisecond."""
    return UUID(int=((instant - _EPOCH) // _MILLISECOND) << 80)
