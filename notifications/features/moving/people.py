"""A recipient of an export, built field by field.

    person = ExportedPerson(place, user_id)
    person.add(Channel.EMAIL, "maria@example.com", "email")
    yield from person.parts()

A field with a fault is a part that is not understood, and the other fields of the recipient stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pydantic
from pydantic import TypeAdapter, ValidationError

from notifications.core.rules import attributes
from notifications.core.rules.preferences import WHOLE_CHANNEL, Cell
from notifications.core.rules.recipient import PREFIX, Locale, To, Zone
from notifications.core.rules.request import Name, UserId
from notifications.core.store.cached.attributes import kinds
from notifications.core.store.postgres import contact_addresses
from notifications.core.store.postgres.contact_book import Address
from notifications.features.moving.export import (
    ExportPlace,
    Found,
    LeftOutField,
    NotUnderstood,
    RecipientItem,
)
from providers.contract import Channel

_USER_ID: Final = TypeAdapter(UserId)
_TEXTS: Final[Mapping[str, TypeAdapter[str]]] = {
    "locale": TypeAdapter(Locale),
    "timezone": TypeAdapter(Zone),
}
_TOPIC: Final = TypeAdapter(Name)
MAX_CONTACTS: Final = 100
"""Contacts of a recipient; every device is a contact."""


class TopicNames:
    """Topics for the names of one export: `Weekly news` gives `Weekly-news`."""

    def __init__(self) -> None:
        """Begin without a name."""
        self._written: dict[str, str] = {}

    def topic(self, written: str) -> str:
        """Return the topic for a name in any characters.

        Raises:
            ValueError: no character of the name can stay, or another name has the same topic.
        """
        topic = re.sub(r"[^A-Za-z0-9_.:-]+", "-", written).strip("-")[:64]
        if not topic:
            raise ValueError("the name needs a letter A to Z or a digit to become a topic")
        if self._written.setdefault(topic, written) != written:
            raise ValueError(f"another name of the export gives the topic {topic}, too; rename one")
        return topic


class ExportedPerson:
    """The fields of a recipient, with the faults of the fields."""

    def __init__(self, place: ExportPlace, user_id: str) -> None:
        """Begin with the user id; empty: the recipient with the addresses."""
        self._place = place
        self._user_id = user_id
        self._faults: list[Found] = []
        self._profile: dict[str, str] = {}
        self._addresses: dict[tuple[Channel, str], Address] = {}
        self._attributes: dict[str, object] = {}
        self._off: set[Cell] = set()
        self._topics: set[str] = set()

    def fault(self, why: str, *names: str | int) -> None:
        """Add a part that is not understood, at a field."""
        self._faults.append(NotUnderstood(self._place.below(*names) if names else self._place, why))

    def add(self, channel: Channel, address: object, *names: str | int, kind: str = "") -> None:
        """Add a contact of a field; an empty address adds none."""
        if address in (None, ""):
            return
        if not isinstance(address, str):
            self.fault("must be a text", *names)
            return
        try:
            text = contact_addresses.normalize(channel, address)
            kind = contact_addresses.kind_of(channel, text, kind)
        except ValueError as error:
            self.fault(str(error), *names)
            return
        self._addresses.setdefault(
            (channel, text), Address(channel=channel, address=text, kind=kind)
        )

    def set(self, column: str, value: object, *names: str | int) -> None:
        """Set `locale` or `timezone`; an empty value leaves the column."""
        if value in (None, ""):
            return
        try:
            self._profile[column] = _TEXTS[column].validate_python(value)
        except ValidationError as error:
            self.fault(_message_of(error), *names)

    def set_attributes(self, values: Mapping[str, Any], *names: str | int) -> None:
        """Set defined attributes; other names are left out and counted."""
        known = kinds()
        given = {name: value for name, value in values.items() if value is not None}
        self.leave_out(*(f"attribute {name}" for name in given if name not in known))
        given = {name: value for name, value in given.items() if name in known}
        faults = attributes.faults(given, known)
        for name, detail in faults.items():
            self.fault(detail, *names, name)
        self._attributes |= {
            name: attributes.to_stored(value, known[name])
            for name, value in given.items()
            if name not in faults
        }

    def switch_channel_off(self, channel: Channel) -> None:
        """Switch off everything on a channel."""
        self._off.add(Cell(WHOLE_CHANNEL, channel))

    def switch_off(self, topic: object, channel: Channel | None, *names: str | int) -> None:
        """Switch off a topic on a channel; None: on each channel."""
        if (name := self._name(topic, *names)) is not None:
            self._off.add(Cell(name, channel))

    def subscribe(self, topic: object, *names: str | int) -> None:
        """Subscribe the recipient to a topic of audiences."""
        if (name := self._name(topic, *names)) is not None:
            self._topics.add(name)

    def leave_out(self, *names: str) -> None:
        """Count fields without a counterpart."""
        self._faults += map(LeftOutField, names)

    def parts(self) -> Iterator[Found]:
        """Yield the faults, then the recipient unless its user id or its contacts are faulty."""
        yield from self._faults
        if len(self._addresses) > MAX_CONTACTS:
            yield NotUnderstood(self._place, f"has more than {MAX_CONTACTS} contacts")
            return
        user_id, to = self._user_id, None
        if user_id:
            if why := _user_id_fault(user_id):
                yield NotUnderstood(self._place, why)
                return
        else:
            to = self._to()
            if to is None:
                if not self._faults:
                    yield NotUnderstood(self._place, "has no user id, no e-mail and no phone")
                return
        yield RecipientItem(
            place=self._place,
            user_id=user_id,
            to=to,
            profile=self._profile,
            addresses=tuple(self._addresses.values()),
            attributes=self._attributes,
            off=frozenset(self._off),
            topics=frozenset(self._topics),
        )

    def _to(self) -> To | None:
        """Return the addresses as `to`; None without an e-mail and a phone."""
        first = {each.channel: each.address for each in reversed(self._addresses.values())}
        email, phone = first.get(Channel.EMAIL), first.get(Channel.SMS)
        if email is None and phone is None:
            return None
        return To(email=email, phone=phone, **self._profile)

    def _name(self, topic: object, *names: str | int) -> str | None:
        try:
            return _TOPIC.validate_python(topic)
        except ValidationError:
            said = "a topic has 1 to 64 letters, digits and the characters _ . : - only"
            self.fault(said, *names)
            return None


def _user_id_fault(user_id: str) -> str:
    try:
        _USER_ID.validate_python(user_id)
        user_id.encode()
    except (ValidationError, UnicodeEncodeError):
        return "the user id must have 1 to 128 characters"
    return f"user ids of this service begin with {PREFIX}" if user_id.startswith(PREFIX) else ""


def _message_of(error: pydantic.ValidationError) -> str:
    return str(error.errors()[0]["msg"]).removeprefix("Value error, ")
