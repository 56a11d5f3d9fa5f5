"""Arrays as parameters of a statement, dumped in one step: ids, texts, integers and times.

psycopg's dumper of lists inspects each value, which takes five times as long. Any other list is
left to psycopg.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from struct import Struct
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg import postgres
from psycopg.adapt import Dumper
from psycopg.pq import Format


class _Ids(list[UUID]):
    """A list of ids as a parameter."""


class _Texts(list[str]):
    """A list of texts as a parameter."""


class SmallIntegers(list[int | None]):
    """A list of `smallint` as a parameter."""


class _Integers(list[int | None]):
    """A list of `integer` as a parameter."""


class _BigIntegers(list[int | None]):
    """A list of `bigint` as a parameter."""


class _Times(list[datetime | None]):
    """A list of times with a timezone as a parameter."""


class _Untyped(list[None]):
    """An empty list, or only None, as a parameter; Postgres infers the type, as with psycopg's."""


_ID_TYPE: Final = postgres.types["uuid"]
_HEAD: Final = Struct("!iiIii")
"""Head of an array: dimensions, 1 if a value can be NULL, type, number of values, first index.
Source: `array_send` in https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/utils/adt/arrayfuncs.c
"""
_ID_LENGTH: Final = (16).to_bytes(4)
"""Before each id: the number of the bytes."""


class _IdsDumper(Dumper):
    """Dumps a list of ids, at least one, in binary: Postgres parses the text of an id slowly."""

    oid = _ID_TYPE.array_oid
    format = Format.BINARY

    def dump(self, obj: Sequence[UUID]) -> bytes:
        head = _HEAD.pack(1, 0, _ID_TYPE.oid, len(obj), 1)
        return head + _ID_LENGTH + _ID_LENGTH.join([each.int.to_bytes(16) for each in obj])


class _TextsDumper(Dumper):
    """Dumps a list of quoted texts; drops NUL, which Postgres cannot store."""

    oid = postgres.types["text"].array_oid

    def dump(self, obj: Sequence[str]) -> bytes:
        together = "".join(obj)
        if '"' in together or "\\" in together:
            obj = [each.replace("\\", r"\\").replace('"', r"\"") for each in obj]
        return ('{"' + '","'.join(obj) + '"}').replace("\0", "").encode()


class _SmallIntegersDumper(Dumper):
    """Dumps a list of integers, some of which can be None."""

    oid = postgres.types["int2"].array_oid

    def dump(self, obj: Sequence[int | None]) -> bytes:
        return ("{" + ",".join(map(str, obj)).replace("None", "NULL") + "}").encode()


class _IntegersDumper(_SmallIntegersDumper):
    oid = postgres.types["int4"].array_oid


class _BigIntegersDumper(_SmallIntegersDumper):
    oid = postgres.types["int8"].array_oid


class _UntypedDumper(Dumper):
    def dump(self, obj: Sequence[None]) -> bytes:
        return ("{" + ",".join(["NULL"] * len(obj)) + "}").encode()


class _TimesDumper(Dumper):
    """Dumps a list of times, some of which can be None."""

    oid = postgres.types["timestamptz"].array_oid

    def dump(self, obj: Sequence[datetime | None]) -> bytes:
        quoted = ["NULL" if each is None else f'"{each}"' for each in obj]
        return ("{" + ",".join(quoted) + "}").encode()


def _times(values: Sequence[datetime | None]) -> list[datetime | None]:
    """Mark times with a timezone."""
    has_zones = all(each is None or each.tzinfo is not None for each in values)
    return _Times(values) if has_zones else list(values)


def _integers(values: Sequence[int | None]) -> list[int | None]:
    """Mark integers with the smallest type that has all values, which psycopg also chooses.

    A partial index on a `smallint` column is usable for `smallint` only.
    """
    known = [each for each in values if each is not None]
    smallest, largest = min(known), max(known)
    if smallest >= -(1 << 15) and largest < 1 << 15:
        return SmallIntegers(values)
    if smallest >= -(1 << 31) and largest < 1 << 31:
        return _Integers(values)
    return _BigIntegers(values)


_ARRAYS: Final[Mapping[type, Callable[[Any], list[Any]]]] = {
    UUID: _Ids,
    str: _Texts,
    int: _integers,
    datetime: _times,
}


def bound(parameters: Mapping[str, object]) -> dict[str, object]:
    """Mark lists, each with values of one type, for the dumpers below."""
    return {
        name: _marked(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def _marked(values: list[Any]) -> list[Any]:
    if not values or (values[0] is None and values.count(None) == len(values)):
        return _Untyped(values)
    return _ARRAYS.get(type(values[0]), list)(values)


def register(session: psycopg.Connection[Any]) -> None:
    """Register the dumpers of this module on a session, for each cursor of the session."""
    adapters = session.adapters
    adapters.register_dumper(_Untyped, _UntypedDumper)
    adapters.register_dumper(_Ids, _IdsDumper)
    adapters.register_dumper(_Texts, _TextsDumper)
    adapters.register_dumper(SmallIntegers, _SmallIntegersDumper)
    adapters.register_dumper(_Integers, _IntegersDumper)
    adapters.register_dumper(_BigIntegers, _BigIntegersDumper)
    adapters.register_dumper(_Times, _TimesDumper)
