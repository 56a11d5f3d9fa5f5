"""Retention of rows by their age, as a table."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowRetention:
    """Retention of the rows of a table, to which no foreign key without a cascade refers."""

    table: str
    column: str
    """An instant; a row without the instant stays."""
    age: dt.timedelta = dt.timedelta(0)
    """Age of `column` at which a row is deleted; zero: at the instant."""
    setting: str = ""
    """Name of the field of `conf.Conf` that has the age instead of `age`."""
