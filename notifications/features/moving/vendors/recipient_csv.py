"""CSV of recipients in the columns of this service, for any other source.

    user_id,email,phone,locale,timezone,fcm_token,apns_token,channels_off,topics_off,topics
    u_1,maria@example.com,+5511912345678,pt-BR,America/Sao_Paulo,,,sms,marketing email:social,news

Tokens, `channels_off`, `topics_off` and `topics` hold several values with spaces between them.
`topics_off` names a category or notification type, or with a channel `email:social`; `topics` names
topics of audiences. The columns may come in any order, and each but `user_id` may be absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from notifications.core.rules.request_faults import did_you_mean
from notifications.features.moving import files
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    NotUnderstood,
    WrongExport,
)
from notifications.features.moving.files import CsvLine
from notifications.features.moving.people import ExportedPerson
from providers.contract import Channel

CONTACTS: Final = {
    "email": (Channel.EMAIL, ""),
    "phone": (Channel.SMS, ""),
    "fcm_token": (Channel.PUSH, "fcm_token"),
    "apns_token": (Channel.PUSH, "apns_token"),
    "expo_token": (Channel.PUSH, "expo_token"),
}
"""Column -> channel and kind of the address."""
PREFERENCES: Final = ("channels_off", "topics_off")
_PROFILE: Final = ("locale", "timezone")
_TOPICS: Final = "topics"
COLUMNS: Final = ("user_id", *CONTACTS, *_PROFILE, *PREFERENCES, _TOPICS)
MAX_WORDS: Final = 100
"""Values of a cell."""
_CHANNELS: Final = {each.label: each for each in Channel}


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the recipients."""
    lines_of: dict[str, ExportPlace] = {}
    for file in given:
        columns: tuple[str, ...] = ()
        for line in files.read_csv(file, required=("user_id",), known=COLUMNS):
            if isinstance(line, NotUnderstood):
                yield line
                continue
            columns = columns or _check_columns(file, line)
            user_id = line.get("user_id")
            if user_id and user_id in lines_of:
                said = f"the user id is in {lines_of[user_id]}, too; keep one line"
                yield NotUnderstood(line.place, said)
                continue
            lines_of[user_id] = line.place
            if user_id:
                yield from _person(line, user_id)
            else:
                yield NotUnderstood(line.place.below("user_id"), "is empty")


def _check_columns(file: ExportFile, line: CsvLine) -> tuple[str, ...]:
    """Return the columns.

    Raises:
        WrongExport: a column has another name, and its values would be lost.
    """
    unknown = next((name for name in line.cells if name not in COLUMNS), None)
    if unknown is not None:
        meant = did_you_mean(unknown, COLUMNS)
        known = ", ".join(COLUMNS)
        raise WrongExport(f"{file.name}, line 1: unknown column {unknown!r}{meant}; known: {known}")
    return tuple(line.cells)


def _person(line: CsvLine, user_id: str) -> Iterator[Found]:
    person = ExportedPerson(line.place, user_id)
    for name, (channel, kind) in CONTACTS.items():
        values = _words(person, line, name) if channel is Channel.PUSH else [line.get(name)]
        for value in values:
            person.add(channel, value, name, kind=kind)
    for name in _PROFILE:
        person.set(name, line.get(name), name)
    _switch_off(person, line)
    for topic in _words(person, line, _TOPICS):
        person.subscribe(topic, _TOPICS)
    yield from person.parts()


def _words(person: ExportedPerson, line: CsvLine, name: str) -> list[str]:
    """Return the values of a cell; too many are one fault, and none of them is read."""
    words = line.get(name).split(maxsplit=MAX_WORDS)
    if len(words) <= MAX_WORDS:
        return words
    person.fault(f"has more than {MAX_WORDS} values", name)
    return []


def _switch_off(person: ExportedPerson, line: CsvLine) -> None:
    for label in _words(person, line, "channels_off"):
        if label in _CHANNELS:
            person.switch_channel_off(_CHANNELS[label])
        else:
            said = f"{label[:40]!r} is no channel; channels are {', '.join(_CHANNELS)}"
            person.fault(said, "channels_off")
    for word in _words(person, line, "topics_off"):
        label, mark, topic = word.partition(":")
        if mark and label in _CHANNELS:
            person.switch_off(topic, _CHANNELS[label], "topics_off")
        else:
            person.switch_off(word, None, "topics_off")
