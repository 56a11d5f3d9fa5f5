"""Arrays of ids and of texts as parameters of a statement, dumped in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import postgres
from psycopg.adapt import Dumper


class _Ids(list[UUID]):
    """A list of ids as a parameter."""


class _Texts(list[str]):
    """A list of texts as a parameter."""


class _IdsDumper(Dumper):
    """Dumps a list of ids in one step; psycopg's dumper inspects each value."""

    oid = postgres.types["uuid"].array_oid

    def dump(self, obj: Sequence[UUID]) -> bytes:
        return ("{" + ",".join([each.hex for each in obj]) + "}").encode()


class _TextsDumper(Dumper):
    """Dumps a list of quoted texts in one step; drops NUL, which Postgres cannot store."""

    oid = postgres.types["text"].array_oid

    def dump(self, obj: Sequence[str]) -> bytes:
        quoted = [each.replace("\\", r"\\").replace('"', r"\"") for each in obj]
        return ('{"' + '","'.join(quoted) + '"}').replace("\0", "").encode()


_ARRAYS: Final[Mapping[type, type[list[Any]]]] = {UUID: _Ids, str: _Texts}


def bound(parameters: Mapping[str, object]) -> dict[str, object]:
    """Mark lists for the dumpers of this module; the values of a list have one type."""
    return {
        name: _ARRAYS.get(type(value[0]), list)(value)
        if isinstance(value, list) and value
        else value
        for name, value in parameters.items()
    }


def register(cursor: psycopg.Cursor[Any]) -> None:
    """Register the dumpers of this module on a cursor."""
    cursor.adapters.register_dumper(_Ids, _IdsDumper)
    cursor.adapters.register_dumper(_Texts, _TextsDumper)
