"""listmonk: subscribers, lists and transactional templates, as JSON of its API, or CSV.

    subscribers.json    GET /api/subscribers?per_page=all: {"data": {"results": [...]}}
    subscribers.csv     the export of the web page; without lists
    lists.json          GET /api/lists?per_page=all; says which lists need a confirmation
    templates.json      GET /api/templates: {"data": [...]}

A subscriber has no user id of another system and becomes a recipient by address. A list becomes a
topic of audiences, and an unsubscription an opt-out from the topic of the same name by e-mail:
https://listmonk.app/docs/apis/subscribers
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from notifications.core.rules.suppression import Cause
from notifications.features.moving import files
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    NotUnderstood,
    Remark,
    WrongExport,
)
from notifications.features.moving.files import CsvLine
from notifications.features.moving.languages import go_templates
from notifications.features.moving.people import ExportedPerson, TopicNames
from notifications.features.moving.texts import Source, Texts
from notifications.features.moving.vendors import suppressed
from providers.contract import Channel

_KEYS: Final = ("data.results", "data")
_NOT_SENT_TO: Final = frozenset({"blocklisted", "disabled"})
_LAYOUT: Final = (
    "the layout of campaigns has no counterpart; put its HTML into the templates of the mails"
)
_UNCONFIRMED: Final = (
    "unconfirmed, and nothing says if the list needs a confirmation; add lists.json"
)


@dataclass(frozen=True, slots=True)
class _Lists:
    """The lists of an export."""

    opt_in: dict[object, object] = field(default_factory=dict)
    """Id of a list -> `single` or `double`."""
    names: TopicNames = field(default_factory=TopicNames)


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the templates and the subscribers.

    Raises:
        WrongExport: a file is no export of listmonk.
    """
    lists = _Lists()
    others = []
    for file in given:
        if file.is_csv:
            yield from _lines(file)
            continue
        for each in files.read_entries(file, *_KEYS, wanted="id"):
            if not isinstance(each, NotUnderstood) and _is_list(each[1]):
                lists.opt_in[str(each[1]["id"])] = each[1]["optin"]
            else:
                others.append(each)
    for each in others:
        if isinstance(each, NotUnderstood):
            yield each
        else:
            yield from files.in_form(each[0], _entry(*each, lists))


def _is_list(entry: Mapping[str, Any]) -> bool:
    return "optin" in entry and "email" not in entry


def _entry(place: ExportPlace, entry: Mapping[str, Any], lists: _Lists) -> Iterator[Found]:
    """Yield the parts of a subscriber or a template.

    Raises:
        WrongExport: the object is neither.
    """
    if "email" in entry:
        yield from _subscriber(place, entry, lists)
    elif "body" in entry:
        yield from _template(place, entry)
    else:
        raise WrongExport(f"{place}: neither a subscriber, a list nor a template")


def _lines(file: ExportFile) -> Iterator[Found]:
    yield Remark(file.place, "the CSV has no lists, so no topic is subscribed")
    for line in files.read_csv(file, required=("email", "status"), known=("name",)):
        yield from [line] if isinstance(line, NotUnderstood) else _line(line)


def _template(place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    if entry.get("type") != "tx":
        yield NotUnderstood(place, _LAYOUT)
        return
    texts = Texts(place, str(entry.get("name") or ""), convert=go_templates.convert)
    texts.add(
        Channel.EMAIL,
        place,
        Source(title=str(entry.get("subject") or ""), html=str(entry.get("body") or "")),
    )
    yield from texts.parts()


def _line(line: CsvLine) -> Iterator[Found]:
    attributes: object = {}
    if written := line.get("attributes"):
        try:
            attributes = orjson.loads(written)
        except orjson.JSONDecodeError:
            yield NotUnderstood(line.place.below("attributes"), "is no JSON")
    yield from _subscriber(line.place, {**line.cells, "attribs": attributes}, _Lists())


def _subscriber(place: ExportPlace, entry: Mapping[str, Any], lists: _Lists) -> Iterator[Found]:
    person = ExportedPerson(place, "")
    person.add(Channel.EMAIL, entry["email"], "email")
    attributes = entry.get("attribs")
    if isinstance(attributes, dict):
        person.set_attributes(attributes, "attribs")
    elif attributes:
        person.fault("must be an object", "attribs")
    if entry.get("name"):
        person.leave_out("name")
    for number, each in enumerate(entry.get("lists") or ()):
        _add_list(person, each, lists, number)
    yield from person.parts()
    status = entry.get("status")
    if status in _NOT_SENT_TO:
        yield suppressed.entry(place, entry["email"], Cause.IMPORT, note=f"listmonk: {status}")
    elif status != "enabled":
        yield NotUnderstood(place.below("status"), "must be enabled, disabled or blocklisted")


def _add_list(person: ExportedPerson, entry: object, lists: _Lists, number: int) -> None:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        person.fault("must be a list with a name", "lists", number)
        return
    try:
        topic = lists.names.topic(entry["name"])
    except ValueError as error:
        person.fault(str(error), "lists", number)
        return
    way = entry.get("optin") or lists.opt_in.get(str(entry.get("id")))
    match entry.get("subscription_status"), way:
        case ("confirmed", _) | ("unconfirmed", "single"):
            person.subscribe(topic, "lists", number)
        case "unconfirmed", "double":
            person.leave_out("list without the confirmation of the subscriber")
        case "unconfirmed", _:
            person.fault(_UNCONFIRMED, "lists", number)
        case "unsubscribed", _:
            person.switch_off(topic, Channel.EMAIL, "lists", number)
        case status, _:
            person.fault(f"{str(status)[:20]!r} is no status", "lists", number)
