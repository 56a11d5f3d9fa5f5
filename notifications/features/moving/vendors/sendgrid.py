"""SendGrid: suppression lists, as JSON of the API or as CSV of the web page; a file for each list.

    bounces.json       GET /v3/suppression/bounces, and blocks, invalid_emails, spam_reports,
                       unsubscribes:  [{"email": "a@example.com", "created": 1, "reason": "..."}]
    asm.json           GET /v3/asm/suppressions: [{"email": ..., "group_id": 1, "group_name": ...}]

An entry does not say which list it is of, so the name of the file says it. A suppression of an
unsubscribe group becomes an opt-out from the topic with the name of the group, because the
suppression list would stop all e-mails. SendGrid goes on sending to blocked addresses, so blocks
are left out: https://www.twilio.com/docs/sendgrid/api-reference/blocks-api
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from notifications.core.rules.suppression import Cause
from notifications.features.moving import files
from notifications.features.moving.export import (
    ExportFile,
    ExportPlace,
    Found,
    LeftOutField,
    NotUnderstood,
    WrongExport,
)
from notifications.features.moving.files import CsvLine
from notifications.features.moving.people import ExportedPerson, TopicNames
from notifications.features.moving.vendors import suppressed
from providers.contract import Channel

_LISTS: Final = {
    "bounces": Cause.BOUNCE,
    "invalid_emails": Cause.BOUNCE,
    "spam_reports": Cause.COMPLAINT,
    "unsubscribes": Cause.UNSUBSCRIBE_ALL,
}
_GROUPS: Final = "asm"
_BLOCKS: Final = "blocks"


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the suppressed addresses, and the opt-outs of unsubscribe groups."""
    topics = TopicNames()
    for file in given:
        name = _list_of(file)
        lines = (
            files.read_csv(file, required=("email",), known=("reason", "group_name"))
            if file.is_csv
            else files.read_entries(file, wanted="email")
        )
        for each in lines:
            if isinstance(each, NotUnderstood):
                yield each
            elif isinstance(each, CsvLine):
                yield from _parts(name, each.place, each.cells, topics)
            else:
                yield from _parts(name, *each, topics)


def _list_of(file: ExportFile) -> str:
    """Return the list that the name of the file says.

    Raises:
        WrongExport: the name says no list, or several.
    """
    known = (*_LISTS, _GROUPS, _BLOCKS)
    words = re.sub(r"[^a-z]+", "_", file.name.lower().rpartition("/")[2])
    found = [name for name in known if re.search(rf"(?:^|_){name}(?:_|$)", words)]
    if len(found) != 1:
        raise WrongExport(
            f"{file.name}: the name of the file must contain one of {', '.join(known)}, because the"
            " entries do not say of which list they are"
        )
    return found[0]


def _parts(
    name: str, place: ExportPlace, entry: Mapping[str, Any], topics: TopicNames
) -> Iterator[Found]:
    if name == _BLOCKS:
        yield LeftOutField("address of the list of blocks")
        return
    if name == _GROUPS:
        yield from _opt_out(place, entry, topics)
        return
    reason = entry.get("reason")
    note = f"SendGrid {name}" + (f": {reason}" if isinstance(reason, str) and reason else "")
    yield suppressed.entry(place, entry["email"], _LISTS[name], note=note)


def _opt_out(place: ExportPlace, entry: Mapping[str, Any], topics: TopicNames) -> Iterator[Found]:
    group = entry.get("group_name")
    if not isinstance(group, str) or not group:
        yield NotUnderstood(place.below("group_name"), "has no name of an unsubscribe group")
        return
    try:
        topic = topics.topic(group)
    except ValueError as error:
        yield NotUnderstood(place.below("group_name"), str(error))
        return
    person = ExportedPerson(place, "")
    person.add(Channel.EMAIL, entry["email"], "email")
    person.switch_off(topic, Channel.EMAIL, "group_name")
    yield from person.parts()
