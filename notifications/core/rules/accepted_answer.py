"""The answer to an accepted notification, and the packed form that an idempotency key keeps.

`as_json` makes the answer to the first request and, from the packed form, the answer to each
repeat. So both have the same bytes, independent of later events of the notification. The packed
form of one delivery has 30 bytes, the JSON 260.

    byte 0        version of the form
    bytes 1-16    id of the notification
    bytes 17-24   time of acceptance, microseconds since 1970
    byte 25       priority
    bytes 26-27   number of deliveries
    then          channel and status of each delivery, a byte each
    then          channel, length of the reason and reason of each skipped channel
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from notifications.core.rules import ids
from notifications.core.rules.lane import Priority
from notifications.core.rules.states import Status, overall
from providers.contract import Channel

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">B16sqBH")
_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)
_CHANNELS: Final = {channel.value: channel.label for channel in Channel}
_PRIORITIES: Final = {priority: priority.name for priority in Priority}
_STATUSES: Final = {status.value: status.label for status in Status}


class AcceptedAnswer(NamedTuple):
    """An answer without the fields that few answers have: send time, warnings, new recipient."""

    notification_id: UUID
    priority: Priority
    deliveries: Sequence[tuple[int, int]]
    """Channel and status of each delivery; the first has the number 1 (`ids.delivery_id`)."""
    created_at: dt.datetime
    skipped: Sequence[tuple[int, str]] = ()
    """Channel and reason of each channel without a delivery."""


def as_json(answer: AcceptedAnswer) -> dict[str, Any]:
    """Return the body of the answer."""
    name, (status_of_all, words) = str(answer.notification_id), _words(tuple(answer.deliveries))
    body: dict[str, Any] = {
        "notification_id": name,
        "status": status_of_all,
        "priority": _PRIORITIES[answer.priority],
        "deliveries": [
            {
                "delivery_id": ids.delivery_text(name, number),
                "channel": channel,
                "status": status,
            }
            for number, (channel, status) in enumerate(words, start=1)
        ],
        "created_at": instant(answer.created_at),
    }
    if answer.skipped:
        body["skipped"] = [
            {"channel": _CHANNELS[channel], "reason": reason} for channel, reason in answer.skipped
        ]
    return body


def pack(answer: AcceptedAnswer) -> bytes:
    """Return the packed form."""
    at, count = _microseconds(answer.created_at), len(answer.deliveries)
    head = _HEAD.pack(_VERSION, answer.notification_id.bytes, at, answer.priority, count)
    packed = head + bytes(itertools.chain.from_iterable(answer.deliveries))
    for channel, reason in answer.skipped:
        packed += _skipped(channel, reason)
    return packed


def unpack(packed: bytes) -> AcceptedAnswer:
    """Read the packed form.

    Raises:
        ValueError: the form, the priority, a channel or a status is of another release, or the form
            is cut off.
    """
    if packed[:1] != bytes([_VERSION]):
        msg = f"a kept answer has the form {packed[:1].hex()}, and this release reads {_VERSION:02}"
        raise ValueError(msg)
    if len(packed) < _HEAD.size:
        raise ValueError("a kept answer is cut off")
    _, notification_id, at, priority, count = _HEAD.unpack_from(packed)
    end = _HEAD.size + 2 * count
    if len(packed) < end:
        raise ValueError("a kept answer is cut off")
    pairs = packed[_HEAD.size : end]
    answer = AcceptedAnswer(
        UUID(bytes=notification_id),
        Priority(priority),
        list(zip(pairs[::2], pairs[1::2], strict=True)),
        _EPOCH + at * _MICROSECOND,
        list(_each_skipped(packed[end:])),
    )
    _refuse_unknown(answer)
    return answer


def _refuse_unknown(answer: AcceptedAnswer) -> None:
    """Refuse numbers without a name in this release.

    Raises:
        ValueError: a channel or a status is unknown.
    """
    channels = {channel for channel, _ in (*answer.deliveries, *answer.skipped)}
    statuses = {status for _, status in answer.deliveries}
    if unknown := channels - _CHANNELS.keys():
        raise ValueError(f"a kept answer has the channel {min(unknown)}, unknown to this release")
    if unknown := statuses - _STATUSES.keys():
        raise ValueError(f"a kept answer has the status {min(unknown)}, unknown to this release")


@functools.lru_cache(maxsize=256)
def _skipped(channel: int, reason: str) -> bytes:
    return bytes([channel, len(reason)]) + reason.encode("ascii")


def _each_skipped(rest: bytes) -> Iterator[tuple[int, str]]:
    while rest:
        channel, end = rest[0], 2 + int.from_bytes(rest[1:2])
        if len(rest) < end:
            raise ValueError("a kept answer is cut off")
        yield channel, rest[2:end].decode("ascii")
        rest = rest[end:]


@functools.lru_cache(maxsize=4)
def instant(at: dt.datetime) -> str:
    """Return a time as the answers of the API show times."""
    return at.isoformat().replace("+00:00", "Z")


@functools.lru_cache(maxsize=4)
def _microseconds(at: dt.datetime) -> int:
    return (at - _EPOCH) // _MICROSECOND


@functools.lru_cache(maxsize=256)
def _words(deliveries: tuple[tuple[int, int], ...]) -> tuple[str, Sequence[tuple[str, str]]]:
    """Return the status of the notification, and channel and status of each delivery."""
    return (
        overall([Status(status) for _, status in deliveries]).label,
        [(_CHANNELS[channel], _STATUSES[status]) for channel, status in deliveries],
    )
