"""CSV: the units of templates for a spreadsheet.

    id,template,source_language,target_language,channel,field,source,target,note
    push.body#1f2e3d4c,order_sent,en,de,push,body,Hello {{ name }},,"push, text"

A translator fills in `target`. A variable stands in the text as it is. A text that a spreadsheet
would run as a formula has an apostrophe, which an import removes (`rules.csv_lines`). The file
begins with a byte order mark, without which Excel reads another encoding than UTF-8.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Sequence
from typing import Final

from notifications.core.rules import csv_lines
from notifications.core.rules.csv_reader import BadRecord, CsvReader, InvalidFile, Record
from notifications.features.template_studio.rules.units import (
    Target,
    TranslatedFile,
    Translation,
    WrongTranslation,
)

_NEEDED: Final = ("id", "template", "source_language", "target_language", "target")
_COLUMNS: Final = (*_NEEDED[:-1], "channel", "field", "source", "target", "note")


def write(translations: Sequence[Translation]) -> bytes:
    """Return the file of the units."""
    lines = [csv_lines.safe_line(_COLUMNS)]
    for each in translations:
        lines += (
            csv_lines.safe_line([
                *(unit.id, each.template_id, each.source, each.target),
                *(unit.channel, unit.field, unit.source, unit.target, unit.note),
            ])
            for unit in each.units
        )
    return codecs.BOM_UTF8 + "".join(lines).encode()


def _check(record: Record, columns: int) -> None:
    """Check for cells that the import would cut or could not store.

    Raises:
        WrongTranslation: bytes are not UTF-8, or a cell has no column: a comma without quotes would
            end the text.
    """
    if len(record.cells) > columns:
        found = f"has {len(record.cells)} cells, and the first line names {columns} columns"
        raise WrongTranslation(f"line {record.number} {found}")
    try:
        "".join(record.cells).encode()
    except UnicodeEncodeError as error:
        raise WrongTranslation(f"line {record.number} is not UTF-8") from error


def read(data: bytes) -> list[TranslatedFile]:
    """Return the translations of a file, by template and languages.

    Raises:
        WrongTranslation: a line is no CSV or not UTF-8, a needed column is missing, a cell has no
            column, or an id stands twice.
    """
    found: dict[tuple[str, str, str], dict[str, Target]] = {}
    try:
        reader = CsvReader(io.BytesIO(data), required=_NEEDED, known=_COLUMNS)
        for record in reader:
            if isinstance(record, BadRecord):
                raise WrongTranslation(f"line {record.number}: {record.detail}")
            _check(record, len(reader.names))
            cells = dict(zip(reader.names, map(csv_lines.restore, record.cells), strict=False))
            unit, *place = (cells.get(name, "").strip() for name in _NEEDED[:-1])
            template_id, source, target = place
            targets = found.setdefault((template_id, source, target), {})
            if unit in targets:
                raise WrongTranslation(f"line {record.number}: the id {unit[:100]} stands twice")
            if (text := cells.get("target", "")).strip():
                targets[unit] = (text.replace("\r\n", "\n"),)
    except InvalidFile as error:
        raise WrongTranslation(str(error)) from error
    if not found:
        raise WrongTranslation("the file has no line below the names of the columns")
    return [
        TranslatedFile(template_id=template_id, source=source, target=target, targets=targets)
        for (template_id, source, target), targets in found.items()
    ]
