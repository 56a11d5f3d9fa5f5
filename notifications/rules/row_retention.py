"""Retention of rows by their age, as a table."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RowRetention:
    """How long the rows of a table are kept. No foreign key without a cascade names the table."""

    table: str
    column: str
    """An instant; a row without the instant stays."""
    age: dt.timedelta = dt.timedelta(0)
    """Age of `column` at which a row is deleted; zero: at the instant."""
    setting: str = ""
    """Name of the field of `conf.Conf` that has the age instead of `age`."""
