"""The parts of an export: items to import, and parts that an import cannot take over.

A reader of `vendors` yields the parts of its files in order, each with its place. A reader may be
called twice with the same files, and yields the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple

from notifications.core.rules.preferences import Cell
from notifications.core.rules.recipient import To
from notifications.core.store.postgres.contact_book import Address
from notifications.core.store.postgres.suppressions import SuppressionEntry


class WrongExport(ValueError):
    """The file is no export of the vendor: give the file and the vendor that belong together."""


class ExportPlace(NamedTuple):
    """A place in a file."""

    file: str
    where: str = ""
    """`line 7` of CSV, a JSON pointer, or empty: the whole file."""

    def __str__(self) -> str:
        return f"{self.file}, {self.where}" if self.where else self.file

    def below(self, *names: str | int) -> ExportPlace:
        """Return the place of a member: `/data/3` and `email` give `/data/3/email`.

        The field of a line of CSV is named after the line: `line 7: email`.
        """
        if self.where.startswith("line "):
            return self._replace(where=f"{self.where}: {'.'.join(map(str, names))}")
        parts = (str(name).replace("~", "~0").replace("/", "~1") for name in names)
        return self._replace(where="/".join([self.where, *parts]))


@dataclass(frozen=True, slots=True)
class ExportFile:
    """A file that can be read twice."""

    name: str
    """As the report names the file."""
    open: Callable[[], IO[bytes]]

    @property
    def place(self) -> ExportPlace:
        """The whole file."""
        return ExportPlace(self.name)

    @property
    def is_csv(self) -> bool:
        """True for `.csv` and `.csv.gz`."""
        return self.name.lower().removesuffix(".gz").endswith(".csv")


@dataclass(frozen=True, slots=True)
class NotUnderstood:
    """A part that cannot be imported; the reason has no address and no text of a message."""

    place: ExportPlace
    why: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A fact about an imported part, such as a variable with a new name."""

    place: ExportPlace
    text: str


@dataclass(frozen=True, slots=True)
class LeftOutField:
    """A field without a counterpart here; the report counts it by name."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateItem:
    """A template as files: see `rules.templates.file_format`."""

    place: ExportPlace
    template_id: str
    files: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipientItem:
    """A recipient; empty values change nothing."""

    place: ExportPlace
    user_id: str = ""
    """Empty: the recipient with the addresses in `to`."""
    to: To | None = None
    profile: Mapping[str, str] = field(default_factory=dict)
    """`locale` and `timezone`."""
    addresses: tuple[Address, ...] = ()
    attributes: Mapping[str, object] = field(default_factory=dict)
    off: frozenset[Cell] = frozenset()
    """Channels and topics that are off."""
    topics: frozenset[str] = frozenset()
    """Topics of audiences to which the recipient is subscribed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressionItem:
    """An address for the suppression list."""

    place: ExportPlace
    entry: SuppressionEntry


Item = TemplateItem | RecipientItem | SuppressionItem
Found = Item | NotUnderstood | Remark | LeftOutField
Read = Callable[[Sequence[ExportFile]], Iterator[Found]]
"""A reader.

Raises:
    WrongExport: a file is no export of the vendor.
"""
