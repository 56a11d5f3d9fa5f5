"""An import: all files are read and checked, then read again and written in parts.

    read -> faults?  yes: nothing is written, unless the import is partial
                     no:  one part: a transaction, rolled back for a fault of the write
                          several parts: a dry run, and without a fault each part in a transaction

The memory of an import is that of one part, of the user ids and devices, and of one JSON document.
A part is safe to repeat, so an import that died is repeated and finds the written parts unchanged.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

import structlog
from django.db import transaction

from notifications.core.feedback import preference_matrix
from notifications.core.models import Suppression
from notifications.core.rules import addresses
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import address_fault
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.postgres import audit, suppressions
from notifications.core.store.postgres.contact_book import Address
from notifications.core.store.templates import import_export
from notifications.core.store.templates.import_export import ImportEffect
from notifications.features.moving import recipients
from notifications.features.moving.export import (
    ExportFile,
    Found,
    Item,
    LeftOutField,
    NotUnderstood,
    Read,
    RecipientItem,
    Remark,
    SuppressionItem,
    TemplateItem,
    WrongExport,
)
from notifications.features.moving.recipients import HELD, Author
from providers.contract import Channel

PART: Final = 500
"""Items in a transaction, which holds row locks for some seconds."""
MAX_TOLD: Final = 100
"""Faults and remarks with a place in a report; all of them are counted."""
_OPERATION: Final = "import_suppressions"
_CHANGED: Final = "the file changed during the import; import it again"
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Report:
    """The result of an import, or of its check."""

    items: int = 0
    """Understood items of the files."""
    is_written: bool = False
    """False: a dry run, or an import with faults that is not partial."""
    imported: Counter[str] = field(default_factory=Counter)
    """New and changed items by kind: recipients, suppressions, templates."""
    unchanged: Counter[str] = field(default_factory=Counter)
    not_understood: list[NotUnderstood] = field(default_factory=list)
    """The first MAX_TOLD."""
    fault_count: int = 0
    remarks: list[Remark] = field(default_factory=list)
    """The first MAX_TOLD."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Fields without a counterpart, by name."""

    def add_fault(self, fault: NotUnderstood) -> None:
        """Count a fault, and keep the first ones."""
        self.fault_count += 1
        if len(self.not_understood) < MAX_TOLD:
            self.not_understood.append(fault)

    def add_remark(self, remark: Remark) -> None:
        """Keep the first remarks."""
        if len(self.remarks) < MAX_TOLD:
            self.remarks.append(remark)


class ImportStep(StrEnum):
    """A step of an import, in the words of its progress."""

    READING = "read and checked"
    TRYING = "tried"
    WRITING = "imported"


Progress = Callable[[ImportStep, int, int], None]
"""Takes a step, the items so far, and all items of the files; 0: not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """The order for an import: files, mode, actor and options."""

    vendor: str
    read: Read
    files: Sequence[ExportFile]
    mode: Mode
    author: Author
    is_dry: bool = False
    is_partial: bool = False
    """Import the understood items although others are not understood."""
    part: int = field(default_factory=lambda: PART)
    """Items in a transaction."""
    progress: Progress = lambda _step, _items, _of: None
    """Called after each part of a step."""


def run(wanted: Import) -> Report:
    """Check the files, then write unless there is a fault; safe to repeat, sends nothing.

    Raises:
        WrongExport: a file is no export of the vendor; nothing was written.
    """
    report = _check(wanted)
    if report.fault_count and not wanted.is_partial:
        return report
    if wanted.is_dry or wanted.is_partial:
        _write_all(wanted, report)
    elif report.items <= wanted.part:
        with transaction.atomic():
            _write_all(wanted, report)
            if report.fault_count:
                transaction.set_rollback(True)
                return _without_stored_rows(report)
    else:
        trial = copy.deepcopy(report)
        _write_all(replace(wanted, is_dry=True), trial)
        if trial.fault_count:
            return _without_stored_rows(trial)
        _write_all(wanted, report)
    report.is_written = not wanted.is_dry
    if report.is_written:
        counts = {"imported": report.imported.total(), "not_understood": report.fault_count}
        _log.info("import_finished", vendor=wanted.vendor, by=wanted.author.by, **counts)
    return report


def _without_stored_rows(report: Report) -> Report:
    """Return the report of an import without a stored row."""
    report.imported.clear()
    report.unchanged.clear()
    return report


def _write_all(wanted: Import, report: Report) -> None:
    """Read the files again and write the parts; a fault of the write is added to the report."""
    faults_before = report.fault_count
    part: list[Item] = []
    again = done = 0
    step = ImportStep.TRYING if wanted.is_dry else ImportStep.WRITING
    for found in _items(wanted):
        if isinstance(found, NotUnderstood):
            again += 1
        elif isinstance(found, TemplateItem | RecipientItem | SuppressionItem):
            part.append(found)
        if len(part) >= wanted.part:
            _write(part, wanted, report)
            done += len(part)
            part = []
            if report.items > wanted.part:  # a single part may be rolled back
                wanted.progress(step, done, report.items)
    _write(part, wanted, report)
    if again != faults_before:
        report.add_fault(NotUnderstood(wanted.files[0].place, _CHANGED))


def _check(wanted: Import) -> Report:
    """Read all files without a write.

    Raises:
        WrongExport: a file is no export of the vendor.
    """
    report = Report()
    for found in _items(wanted):
        match found:
            case NotUnderstood():
                report.add_fault(found)
            case Remark():
                report.add_remark(found)
            case LeftOutField():
                report.left_out[found.name] += 1
            case TemplateItem() | RecipientItem() | SuppressionItem():
                report.items += 1
                if report.items % wanted.part == 0:
                    wanted.progress(ImportStep.READING, report.items, 0)
    return report


def _items(wanted: Import) -> Iterator[Found]:
    """Yield the parts of the files; an item with a fault becomes the fault.

    The first item of a recipient decides locale, timezone and attributes: an export with a line for
    each device repeats these, and another order of the lines must not change the result.
    """
    mandatory = preference_matrix.mandatory_topics()
    people: set[object] = set()
    owners: dict[str, object] = {}
    template_ids: set[str] = set()
    for found in wanted.read(wanted.files):
        match found:
            case TemplateItem():
                yield _template_fault(found, template_ids) or found
            case RecipientItem():
                refused = sorted({cell.topic for cell in found.off} & mandatory)
                if refused:
                    said = f"{', '.join(refused)}: mandatory here, so the topic stays on"
                    yield NotUnderstood(found.place, said)
                off = frozenset(cell for cell in found.off if cell.topic not in mandatory)
                name = found.user_id or found.to
                kept = [each for each in found.addresses if _is_free(each, name, owners)]
                for _ in found.addresses[len(kept) :]:
                    yield NotUnderstood(found.place, HELD)
                is_first = name not in people
                people.add(name)
                same = found if is_first else replace(found, profile={}, attributes={})
                yield replace(same, off=off, addresses=tuple(kept))
            case SuppressionItem():
                yield _suppression_fault(found, wanted.mode) or found
            case _:
                yield found


def _is_free(address: Address, name: object, owners: dict[str, object]) -> bool:
    """Return False for a device of an earlier recipient of the files."""
    if address.channel is not Channel.PUSH:
        return True
    key = addresses.key(Channel.PUSH, address.address)
    return owners.setdefault(key, name) == name


def _template_fault(item: TemplateItem, known: set[str]) -> NotUnderstood | None:
    if item.template_id in known:
        said = f"two templates have the id {item.template_id} here; rename one"
        return NotUnderstood(item.place, said)
    known.add(item.template_id)
    try:
        import_export.preview(item.template_id, item.files, publish=False)
    except BrokenFiles as error:
        return NotUnderstood(item.place, str(error))
    return None


def _suppression_fault(item: SuppressionItem, mode: Mode) -> NotUnderstood | None:
    if mode is not Mode.LIVE:
        return NotUnderstood(item.place, "test mode has no suppression list; import in live mode")
    fault = address_fault(item.entry.channel, item.entry.address)
    return NotUnderstood(item.place, f"the address {fault}") if fault else None


def _write(part: Sequence[Item], wanted: Import, report: Report) -> None:
    for item in part:
        if isinstance(item, TemplateItem):
            _write_template(item, wanted, report)
    people = [item for item in part if isinstance(item, RecipientItem)]
    if people:
        done = recipients.write(
            people, mode=wanted.mode, author=wanted.author, is_dry=wanted.is_dry
        )
        report.imported["recipients"] += done.changed
        report.unchanged["recipients"] += done.unchanged
        report.left_out += done.left_out
        for fault in done.faults:
            report.add_fault(fault)
        for remark in done.remarks:
            report.add_remark(remark)
    listed = [item for item in part if isinstance(item, SuppressionItem)]
    if listed:
        _write_suppressions(listed, wanted, report)


def _write_template(item: TemplateItem, wanted: Import, report: Report) -> None:
    """Store a draft; a person publishes the draft after a look at the preview."""
    if wanted.is_dry:
        effect = import_export.preview(item.template_id, item.files, publish=False)
    else:
        effect = import_export.load(
            item.template_id, item.files, by=wanted.author.by, publish=False
        )
    counter = report.unchanged if effect is ImportEffect.NOTHING else report.imported
    counter["templates"] += 1


def _write_suppressions(items: Sequence[SuppressionItem], wanted: Import, report: Report) -> None:
    entries = [item.entry for item in items]
    new = suppressions.count_new(entries)
    if new and not wanted.is_dry:
        with transaction.atomic():
            new = suppressions.add(
                entries, by=wanted.author.by, provider=wanted.vendor, are_opt_outs=False
            )
            counted = {"vendor": wanted.vendor, "added": new, "known": len(entries) - new}
            audit.record(wanted.author.by, _OPERATION, Suppression(), after=counted)
    report.imported["suppressions"] += new
    report.unchanged["suppressions"] += len(entries) - new


__all__ = ["Author", "Import", "Report", "WrongExport", "run"]
