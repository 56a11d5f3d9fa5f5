"""GOV.UK Notify: templates as JSON of its API, and the CSV of recipients.

    templates.json    GET /v2/templates: {"templates": [{"id", "name", "type", "subject", "body"}]}
    recipients.csv    column `email address` or `phone number`, and a column for each variable

An e-mail and a text message of the same name become one template with two texts. The variables of
the CSV belong to one message and are left out. A number without a country code is British, as the
service reads it: https://docs.notifications.service.gov.uk/rest-api.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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
from notifications.features.moving.languages import double_parentheses
from notifications.features.moving.languages.converted import NotConvertible
from notifications.features.moving.people import ExportedPerson
from notifications.features.moving.texts import Source, Texts, template_id
from providers.contract import Channel

_EMAIL, _PHONE = "email address", "phone number"
_OPTIONAL_LINES: Final = re.compile(r"\(\([^()]*\?\?[^()]*\n[^()]*\)\)")
_BRITISH: Final = re.compile(r"0(?=[1-9])")


def read(given: Sequence[ExportFile]) -> Iterator[Found]:
    """Yield the templates, then the recipients by address."""
    templates: dict[str, Texts] = {}
    for file in given:
        if file.is_csv:
            yield from _recipients(file)
            continue
        for each in files.read_entries(file, "templates", wanted="body"):
            if isinstance(each, NotUnderstood):
                yield each
                continue
            place, entry = each
            name = str(entry.get("name") or entry.get("id") or "")
            texts = templates.setdefault(template_id(name), Texts(place, name, convert=str))
            yield from files.in_form(place, _add(texts, place, entry))
    for texts in templates.values():
        yield from texts.parts()


def _add(texts: Texts, place: ExportPlace, entry: Mapping[str, Any]) -> Iterator[Found]:
    kind, body = entry.get("type"), str(entry["body"])
    if kind not in {"email", "sms"}:
        texts.fault(place.below("type"), f"{str(kind)[:20]!r}: letters have no channel here")
        return
    try:
        converted = double_parentheses.convert(body)
        title = double_parentheses.convert(str(entry.get("subject") or ""))
    except NotConvertible as error:
        texts.fault(place.below("body"), str(error))
        return
    for old, new in sorted({**converted.renamed, **title.renamed}.items()):
        yield Remark(place, f"the variable (({old})) is {new} here")
    if kind == "sms":
        texts.add(Channel.SMS, place, Source(body=converted.text))
    elif _OPTIONAL_LINES.search(body):
        texts.fault(place.below("body"), "an optional text with several lines; write its HTML")
    else:
        texts.add(
            Channel.EMAIL,
            place,
            Source(
                title=title.text,
                body=converted.text,
                html=double_parentheses.to_html(converted.text),
            ),
        )


def _recipients(file: ExportFile) -> Iterator[Found]:
    for line in _lines(file):
        if isinstance(line, NotUnderstood):
            yield line
            continue
        person = ExportedPerson(line.place, "")
        person.add(Channel.EMAIL, line.get(_EMAIL), _EMAIL)
        person.add(Channel.SMS, _BRITISH.sub("+44", line.get(_PHONE), count=1), _PHONE)
        others = (name for name, text in line.cells.items() if text)
        person.leave_out(*(f"column {name}" for name in others if name not in {_EMAIL, _PHONE}))
        yield from person.parts()


def _lines(file: ExportFile) -> Iterator[CsvLine | NotUnderstood]:
    """Yield the lines of a file with either column.

    Raises:
        WrongExport: the first line has neither column.
    """
    for column in (_EMAIL, _PHONE):
        lines = files.read_csv(file, required=(column,), known=(_EMAIL, _PHONE))
        try:
            first = next(lines, None)
        except WrongExport:
            continue
        if first is not None:
            yield first
        yield from lines
        return
    raise WrongExport(f"{file.name}, line 1: needs a column {_EMAIL!r} or {_PHONE!r}")
