"""The size of an audience: exact if a count is cheap, else from a sample of recipient ids.

The sample is stratified: the range of recipient ids is divided into STRATA parts, and a block of
consecutive ids of each part is counted. The counts of the blocks give the error of the estimate,
and so the length of the blocks with a small enough error. A larger sample is taken as far as the
time for sampling allows, judged by the duration of the previous sample.

An audience with few members in the sample is rare, so an exact count may be fast, from an index.
The exact count has a time limit; after the limit the sample is the answer, with its error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, LiteralString

from psycopg import sql

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import time_limit
from notifications.core.store.postgres.time_limit import TooSlow
from notifications.features.audiences.rows import members
from notifications.features.audiences.rows.compiled import (
    AudienceSql,
    IdRange,
    driver_of,
    size_limit,
)
from notifications.features.audiences.rows.resolve import ResolvedExpression, resolve
from notifications.features.audiences.rules.nodes import Expression

STRATA: Final = 256
_FIRST_BLOCK: Final = 64
"""Ids of the first blocks."""
_LEAST_SECONDS: Final = 0.001
"""Assumed duration of a faster sample."""
_MOST_GROWTH: Final = 16.0
_LEAST_GROWTH: Final = 1.5
"""Factors between the blocks of one sample and the next."""
_SMALL: Final = 50_000
"""Recipients, or possible members, counted at once: some 50 ms."""
_RARE: Final = 5_000
"""Estimated members below which an exact count is tried."""
_AIM: Final = 0.015
"""Standard error relative to the estimate: 95 % of the estimates are within 3 %."""
_SAMPLING_SECONDS: Final = 0.8
"""Time for all samples of an estimate and the exact count of a rare audience."""
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
    ends_at = clock.monotonic() + _SAMPLING_SECONDS
    width = (last - first + 1) / STRATA
    block, is_count_tried = _FIRST_BLOCK, False
    while block < width:
        began = clock.monotonic()
        counts = _sample(resolved, mode, _starts(first, width, block), block)
        found = _scale(counts, share=block / width)
        spent = clock.monotonic() - began
        wanted = _growth(found)
        if wanted <= 1:
            return found
        if found.count + found.error < _RARE and not is_count_tried:
            is_count_tried = True
            exact = _count_in_time(resolved, mode, first, last)
            if exact is not None:
                return Estimate(exact, is_exact=True)
        affordable = (ends_at - clock.monotonic()) / max(spent, _LEAST_SECONDS)
        growth = min(max(wanted, _LEAST_GROWTH), affordable)
        if growth < _LEAST_GROWTH:
            return found
        block = int(block * growth)
    return Estimate(_count(resolved, mode, first, last), is_exact=True)


def _growth(found: Estimate) -> float:
    """Return the factor of the blocks for a small enough error; at most 1: the error is so."""
    if not found.count:
        return _MOST_GROWTH
    # The error falls with the root of the sample; a tenth more, because the estimate varies.
    excess = found.error / (_AIM * _TWO_SIDED * found.count)
    return 1.0 if excess <= 1 else min(_MOST_GROWTH, 1.1 * excess**2)


def _starts(first: int, width: float, block: int) -> list[int]:
    """Return the exclusive start of a block at a random place of each stratum."""
    return [
        first - 1 + int(width * number + (width - block) * clock.jitter())
        for number in range(STRATA)
    ]


def _scale(counts: Sequence[int], *, share: float) -> Estimate:
    """Return the estimate from counts of equal blocks, one per stratum.

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
    """Return the exact count; None if the count lasts too long."""
    try:
        with time_limit.each_statement(milliseconds=_COUNT_MILLISECONDS):
            return _count(resolved, mode, first, last)
    except TooSlow:
        return None
