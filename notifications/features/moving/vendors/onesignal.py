"""OneSignal: the CSV of `POST /players/csv_export`, with `external_user_id` in `extra_fields`.

Each line is a subscription: a device, a mailbox or a number. The columns are those of
https://documentation.onesignal.com/reference/csv-export; numbers of `device_type` are those of
https://documentation.onesignal.com/reference/add-a-device. A token works here if the service has
the key of the same Firebase project or of the same Apple team and app.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from notifications.features.moving import files
from notifications.features.moving.export import ExportFile, Found, LeftOutField, NotUnderstood
from notifications.features.moving.files import CsvLine
from notifications.features.moving.people import ExportedPerson
from providers.contract import Channel

_CONTACTS: Final = {
    "0": (Channel.PUSH, "apns_token"),
    "1": (Channel.PUSH, "fcm_token"),
    "11": (Channel.EMAIL, ""),
    "14": (Channel.SMS, ""),
}
"""iOS, Android, e-mail and SMS."""
_BROWSERS: Final = frozenset({"5", "7", "8"})
_BROWSER: Final = (
    "a Web Push subscription belongs to the VAPID key of OneSignal; the browser subscribes again:"
    " docs/web-push.md"
)
_TRUE: Final = frozenset({"t", "true", "1"})
_REQUIRED: Final = ("identifier", "device_type")
_KNOWN: Final = ("external_user_id", "language", "timezone_id", "invalid_identifier", "tags")
_UNSUBSCRIBED: Final = "-2"
"""Of `notification_types`: the person switched the subscription off."""


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield a recipient for each line; lines of one user have the same user id."""
    for file in given:
        known = (*_KNOWN, "notification_types")
        for line in files.read_csv(file, required=_REQUIRED, known=known):
            yield from [line] if isinstance(line, NotUnderstood) else _parts(line)


def _parts(line: CsvLine) -> Iterator[Found]:
    if line.get("invalid_identifier").lower() in _TRUE:
        yield LeftOutField("subscription with an invalid token")
        return
    user_id, device = line.get("external_user_id"), line.get("device_type")
    if not user_id:
        said = "has no external_user_id, so the person is unknown; export with that extra field"
        yield NotUnderstood(line.place, said)
        return
    if device not in _CONTACTS:
        said = _BROWSER if device in _BROWSERS else f"device_type {device[:8]!r} has no counterpart"
        yield NotUnderstood(line.place.below("device_type"), said)
        return
    channel, kind = _CONTACTS[device]
    is_off = line.get("notification_types") == _UNSUBSCRIBED
    person = ExportedPerson(line.place, user_id)
    if is_off and channel is Channel.PUSH:
        person.leave_out("device on which the person switched push off")
    else:
        person.add(channel, line.get("identifier"), "identifier", kind=kind)
    if is_off and channel is not Channel.PUSH:
        person.switch_channel_off(channel)
    person.set("locale", line.get("language"), "language")
    person.set("timezone", line.get("timezone_id"), "timezone_id")
    if line.get("tags") not in {"", "{}"}:
        person.leave_out("tags")
    yield from person.parts()
