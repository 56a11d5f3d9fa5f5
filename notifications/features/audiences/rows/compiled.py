"""An audience expression as the FROM and WHERE of a statement on recipients.

The statement begins at the smallest table that has all recipients of the audience: the members of a
topic or list, else the recipients. The members are read in the order of recipient ids from the
primary key, so a page costs the rows of the page, not of the audience.

    everyone and topic A            topic A, then the recipient, then the other conditions
    topic A or topic B              both in order, without repeats
    not topic A                     the recipients, one look into topic A for each
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Final, LiteralString, TypeAlias

from psycopg import sql

from notifications.core.rules.lane import Mode
from notifications.features.audiences.rows.conditions import ZONE, ConditionCompiler, Parameters
from notifications.features.audiences.rows.resolve import ResolvedExpression
from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.nodes import Expression

Driver: TypeAlias = "tuple[nodes.InTopic | nodes.InList, ...]"
"""Topics and lists that together have all recipients of an audience."""

_TOPIC_SIZE: Final = 2**40
"""Assumed members of a topic, so that a list with a known size comes first."""
_RECIPIENTS: Final[LiteralString] = (
    "notifications_recipient r WHERE r.mode = {mode} AND r.id > {after} AND r.id <= {until}"
)
_FENCED: Final[LiteralString] = (
    "(SELECT * FROM notifications_recipient WHERE id > {after} AND id <= {until} OFFSET 0) r"
    " WHERE r.mode = {mode}"
)
_MEMBERS: Final[LiteralString] = (
    "{members} JOIN notifications_recipient r ON r.id = d.recipient_id WHERE r.mode = {mode}"
)
_BRANCH: Final[LiteralString] = (
    "SELECT m.recipient_id FROM {table} = {key}"
    " AND m.recipient_id > {after} AND m.recipient_id <= {until}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdRange:
    """The bounds of recipient ids in a statement: above `after`, up to `until`."""

    after: sql.Composable
    until: sql.Composable


class AudienceSql:
    """The SQL of an audience in live or test mode."""

    def __init__(self, resolved: ResolvedExpression, *, mode: Mode, now: dt.datetime) -> None:
        """Compile; `now` is the time to which relative times refer."""
        self.parameters = Parameters()
        self._mode = self.parameters.add(int(mode))
        self._compiler = ConditionCompiler(self.parameters, topics=resolved.topics, now=now)
        self._driver = _driver_of(resolved.expression, resolved)
        rest = _without(resolved.expression, self._driver)
        self._condition = self._compiler.compile(rest)
        self._sources = [self._compiler.members_of(part) for part in self._driver or ()]

    @property
    def key(self) -> sql.Composable:
        """The column with the recipient id, as the order of the rows."""
        return sql.SQL("d.recipient_id" if self._driver else "r.id")

    def source(self, ids: IdRange, *, is_fenced: bool = False) -> sql.Composable:
        """Return FROM and WHERE: recipients `r` of the audience in a range of ids.

        Args:
            ids: the range.
            is_fenced: read all recipients of the range by the primary key, and then filter. For
                many small ranges; the planner would read a whole index of attributes for each.
        """
        bounds = {"after": ids.after, "until": ids.until, "mode": self._mode}
        if self._driver:
            begin = sql.SQL(_MEMBERS).format(members=self._members(ids), mode=self._mode)
        else:
            begin = sql.SQL(_FENCED if is_fenced else _RECIPIENTS).format(**bounds)
        return sql.SQL("{} AND {}").format(begin, self._condition)

    def in_zones(self, zones: list[str]) -> sql.Composable:
        """Return a further condition: recipients in one of the timezones."""
        return sql.SQL(" AND " + ZONE + " = ANY ({}::text[])").format(self.parameters.add(zones))

    def _members(self, ids: IdRange) -> sql.Composable:
        branches = [
            sql.SQL(_BRANCH).format(table=table, key=key, after=ids.after, until=ids.until)
            for table, key in self._sources
        ]
        if len(branches) == 1:
            return sql.SQL("({}) d").format(branches[0])
        return sql.SQL("(SELECT DISTINCT u.recipient_id FROM ({}) u) d").format(
            sql.SQL(" UNION ALL ").join(branches)
        )


def driver_of(resolved: ResolvedExpression) -> Driver | None:
    """Return the topics and lists from which the audience is read; None: from the recipients."""
    return _driver_of(resolved.expression, resolved)


def size_limit(resolved: ResolvedExpression) -> int | None:
    """Return an upper limit of the recipients of an audience; None without a known limit."""
    return _size_limit(resolved.expression, resolved)


def _size_limit(expression: Expression, resolved: ResolvedExpression) -> int | None:
    match expression:
        case nodes.UserIds(user_ids):
            return len(user_ids)
        case nodes.InList(list_id):
            return resolved.list_sizes[list_id]
        case nodes.And(parts):
            sizes = [size for each in parts if (size := _size_limit(each, resolved)) is not None]
            return min(sizes, default=None)
        case nodes.Or(parts):
            limits = [_size_limit(each, resolved) for each in parts]
            known = [each for each in limits if each is not None]
            return sum(known) if len(known) == len(limits) else None
        case _:
            return None


def _driver_of(expression: Expression, resolved: ResolvedExpression) -> Driver | None:
    match expression:
        case nodes.InTopic() | nodes.InList():
            return (expression,)
        case nodes.And(parts):
            if any(isinstance(part, nodes.UserIds) for part in parts):
                return None  # the index of user ids has fewer
            found = [driver for each in parts if (driver := _driver_of(each, resolved))]
            return min(found, key=lambda driver: _size_of(driver, resolved), default=None)
        case nodes.Or(parts):
            each_driver = [_driver_of(part, resolved) for part in parts]
            members = [part for driver in each_driver if driver for part in driver]
            return tuple(dict.fromkeys(members)) if all(each_driver) else None
        case _:
            return None


def _size_of(driver: Driver, resolved: ResolvedExpression) -> int:
    return sum(
        resolved.list_sizes[part.list_id] if isinstance(part, nodes.InList) else _TOPIC_SIZE
        for part in driver
    )


def _without(expression: Expression, driver: Driver | None) -> Expression:
    """Return the conditions that the driver does not already meet."""
    if driver is None:
        return expression
    if _is_met(expression, driver):
        return nodes.Everyone()
    if isinstance(expression, nodes.And):
        rest = tuple(part for part in expression.parts if not _is_met(part, driver))
        return nodes.And(rest) if rest else nodes.Everyone()
    return expression


def _is_met(expression: Expression, driver: Driver) -> bool:
    """Return True if each member of the driver is in the expression."""
    match expression:
        case nodes.InTopic() | nodes.InList():
            return driver == (expression,)
        case nodes.Or(parts):
            return set(driver) <= set(parts)
        case _:
            return False
