"""The size of an audience: exact if a count is cheap, else from a sample of recipient ids.

The sample is stratified: the range of recipient ids is divided into STRATA parts, and a block of
consecutive ids of each part is counted. The blocks grow until the standard error is small enough,
or until the time for sampling is over. The counts of the blocks give the error of the estimate.

An audience with few members in the sample is rare, so an exact count may be fast, from an index.
The exact count has a time limit; after the limit the sample is the answer, with its error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, LiteralString

from django.db import OperationalError, transaction
from psycopg import errors, sql

from notifications import clock
from notifications.rules.audiences.nodes import Expression
from notifications.rules.lane import Mode
from notifications.store.audiences import members
from notifications.store.audiences.compiled import AudienceSql, IdRange, driver_of, size_limit
from notifications.store.audiences.resolve import ResolvedExpression, resolve
from notifications.store.postgres import db

STRATA: Final = 256
_FIRST_BLOCK: Final = 64
"""Ids of the first blocks."""
_GROWTH: Final = 4
"""Factor between the blocks of one sample and the next."""
_SMALL: Final = 50_000
"""Recipients, or possible members, that are counted at once: some 50 ms."""
_RARE: Final = 5_000
"""Estimated members below which an exact count is tried."""
_AIM: Final = 0.015
"""Standard error relative to the estimate: 95 % of the estimates are within 3 %."""
_SAMPLING_SECONDS: Final = 0.5
"""No larger sample is taken if it would last longer than this, judged by the previous sample."""
_COUNT_MILLISECONDS: Final = 300
_TWO_SIDED: Final = 1.96
"""Standard errors that hold 95 % of the estimates."""

_COUNT: Final[LiteralString] = "SELECT count(*) AS count FROM {source}"
_SAMPLE: Final[LiteralString] = (
    "SELECT c.count FROM unnest({starts}::bigint[]) s(first)"
    " CROSS JOIN LATERAL (SELECT count(*) AS count FROM {source}) c"
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The size of an audience."""

    count: int
    is_exact: bool
    error: float = 0.0
    """Half the 95 % interval in recipients; 0 for an exact count."""


def estimate(expression: Expression, *, mode: Mode) -> Estimate:
    """Return the number of recipients of an audience, exact or by a sample, within a second.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolved = resolve(expression, mode=mode)
    first, last = members.ends_of(driver_of(resolved), resolved)
    width, limit = last - first + 1, size_limit(resolved)
    if last == 0:
        return Estimate(0, is_exact=True)
    if width <= _SMALL or (limit is not None and limit <= _SMALL):
        return Estimate(_count(resolved, mode, first, last), is_exact=True)
    return _by_sample(resolved, mode, first, last)


def count(expression: Expression, *, mode: Mode) -> int:
    """Return the exact number of recipients of an audience; may read each recipient of the mode.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolved = resolve(expression, mode=mode)
    first, last = members.ends_of(driver_of(resolved), resolved)
    return _count(resolved, mode, first, last) if last else 0


def _by_sample(resolved: ResolvedExpression, mode: Mode, first: int, last: int) -> Estimate:
    width = (last - first + 1) / STRATA
    block, is_count_tried = _FIRST_BLOCK, False
    while block < width:
        began = clock.monotonic()
        counts = _sample(resolved, mode, _starts(first, width, block), block)
        found = _scaled(counts, share=block / width)
        spent = clock.monotonic() - began
        if found.count and found.error <= _AIM * _TWO_SIDED * found.count:
            return found
        if found.count + found.error < _RARE and not is_count_tried:
            is_count_tried = True
            exact = _count_in_time(resolved, mode, first, last)
            if exact is not None:
                return Estimate(exact, is_exact=True)
        if spent * _GROWTH > _SAMPLING_SECONDS:
            return found
        block *= _GROWTH
    return Estimate(_count(resolved, mode, first, last), is_exact=True)


def _starts(first: int, width: float, block: int) -> list[int]:
    """Return the exclusive start of a block at a random place of each stratum."""
    return [
        first - 1 + int(width * number + (width - block) * clock.jitter())
        for number in range(STRATA)
    ]


def _scaled(counts: Sequence[int], *, share: float) -> Estimate:
    """Return the estimate of counts of equal blocks, one in each stratum.

    Args:
        counts: members in each block.
        share: length of a block divided by the length of a stratum.
    """
    total, number = sum(counts), len(counts)
    mean = total / number
    between = sum((each - mean) ** 2 for each in counts) / max(1, number - 1)
    # At least as much as by chance: blocks without a member have no variance.
    variance = max(number * between, total, 1.0) * max(0.0, 1 - share)
    return Estimate(
        round(total / share), is_exact=False, error=_TWO_SIDED * math.sqrt(variance) / share
    )


def _sample(resolved: ResolvedExpression, mode: Mode, starts: list[int], block: int) -> list[int]:
    audience = AudienceSql(resolved, mode=mode, now=clock.now())
    add = audience.parameters.add
    after = sql.SQL("s.first")
    until = sql.SQL("(s.first + {}::bigint)").format(add(block))
    source = audience.source(IdRange(after=after, until=until), is_fenced=True)
    statement = sql.SQL(_SAMPLE).format(starts=add(starts), source=source)
    return [row["count"] for row in members.fetch(statement, audience.parameters.values)]


def _count(resolved: ResolvedExpression, mode: Mode, first: int, last: int) -> int:
    audience = AudienceSql(resolved, mode=mode, now=clock.now())
    add = audience.parameters.add
    source = audience.source(IdRange(after=add(first - 1), until=add(last)))
    [row] = members.fetch(sql.SQL(_COUNT).format(source=source), audience.parameters.values)
    return int(row["count"])


def _count_in_time(resolved: ResolvedExpression, mode: Mode, first: int, last: int) -> int | None:
    """Return the exact count; None if the count lasts too long.

    Raises:
        OperationalError: the database is away.
    """
    try:
        with transaction.atomic():
            _limit_time(_COUNT_MILLISECONDS)
            found = _count(resolved, mode, first, last)
            _limit_time(0)
            return found
    except OperationalError as error:
        if not isinstance(error.__cause__, errors.QueryCanceled):
            raise
        return None


def _limit_time(milliseconds: int) -> None:
    """Limit the statements of the open transaction; 0: no limit."""
    with db.errors, db.cursor() as running:
        running.execute(
            "SELECT set_config('statement_timeout', %s::text, true)", [str(milliseconds)]
        )
