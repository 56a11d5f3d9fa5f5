"""Workflows and preferences, which Novu and Knock describe alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from notifications.features.moving.export import ExportPlace, Remark
from notifications.features.moving.people import ExportedPerson
from notifications.features.moving.texts import template_id
from providers.contract import Channel

CHANNELS: Final[Mapping[str, Channel]] = {
    "email": Channel.EMAIL,
    "sms": Channel.SMS,
    "push": Channel.PUSH,
    "in_app": Channel.IN_APP,
    "in_app_feed": Channel.IN_APP,
    "chat": Channel.CHAT,
}
"""Type of a channel at the vendor -> channel."""
SERIES: Final = (
    "a step of the kind {kind!r} is no text: write a series (docs/series.md) or a digest"
)
CHANNEL_OFF: Final = "a channel that is off gets no P0 here, such as a one-time password"


def chain(place: ExportPlace, name: str, channels: Sequence[Channel]) -> Remark:
    """Return the request that stands for a workflow."""
    labels = ", ".join(f'"{each.label}"' for each in dict.fromkeys(channels))
    identifier = template_id(name)
    return Remark(
        place,
        f'send "template_id": "{identifier}", "channels": [{labels}]; with "first" and a'
        " fallback_chain the next channel follows a failure",
    )


def switch_off(person: ExportedPerson, topic: str | None, given: object, *names: str | int) -> None:
    """Read `{"email": false, "sms": true}`: False switches the topic off on the channel.

    None as the topic switches off the whole channel.
    """
    if not isinstance(given, Mapping):
        person.fault("must be an object of channels", *names)
        return
    for name, is_on in given.items():
        channel = CHANNELS.get(str(name))
        if not isinstance(is_on, bool):
            person.fault("must be true or false; conditions have no counterpart", *names, name)
        elif is_on:
            continue
        elif channel is None:
            person.fault(f"{str(name)[:40]!r} is no channel here", *names, name)
        elif topic is None:
            person.switch_channel_off(channel)
        else:
            person.switch_off(topic, channel, *names, name)
