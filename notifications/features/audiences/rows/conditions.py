"""Conditions of an audience expression as SQL on a recipient `r`.

The SQL texts are constants of this module. Each value of an expression is a parameter, names of
attributes included, so no value of a caller can become SQL. Each condition is true or false, never
NULL: a recipient without an attribute is outside the condition and inside its `not`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, LiteralString, TypeAlias, assert_never
from uuid import UUID

import orjson
from psycopg import sql

from notifications.core.rules import attributes, ids
from notifications.core.rules.states import OPEN, Status
from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.nodes import Expression, Operator, RelativeDays
from providers.contract import Channel

FEW_CHOICES: Final = 20
"""So many values of `in` are one index condition each; more values are compared row by row."""
RECEIVED: Final = sorted({
    *OPEN,
    Status.SENT,
    Status.UNCONFIRMED,
    Status.DELIVERED,
    Status.READ,
    Status.UNKNOWN,
})
"""Statuses of a delivery that was sent or can still be sent."""
ZONE: Final[LiteralString] = "coalesce(nullif(r.timezone, ''), r.phone_timezone)"
"""The timezone of a recipient, as the index `recipient_by_zone` has it."""
_LOCALE: Final[LiteralString] = "lower(replace(r.locale, '_', '-'))"
_HAS_CONTACT: Final[LiteralString] = (
    "EXISTS (SELECT FROM notifications_contact k WHERE k.recipient_id = r.id"
    " AND k.channel = {channel} AND k.invalidated_at IS NULL"
    " AND NOT (r.mode = 1 AND EXISTS (SELECT FROM notifications_suppression s"
    " WHERE s.channel = k.channel AND s.address = suppressible(k.channel, k.address)"
    " AND s.undone_at IS NULL)))"
)
_NOT_OFF: Final[LiteralString] = (
    "NOT EXISTS (SELECT FROM notifications_preference p WHERE p.recipient_id = r.id"
    " AND {channel} = ANY (p.channels_off))"
)
_RECEIVED: Final[LiteralString] = (
    "EXISTS (SELECT FROM notification n WHERE n.recipient_id = r.id AND n.id >= {floor} AND {any}"
    " AND EXISTS (SELECT FROM delivery d WHERE d.id >= n.id AND d.id <= last_delivery_of(n.id)"
    " AND d.id >= {floor} AND d.status = ANY ({statuses})))"
)
Condition: TypeAlias = (
    nodes.Everyone
    | nodes.UserIds
    | nodes.InTopic
    | nodes.InList
    | nodes.HasAttribute
    | nodes.Received
    | nodes.ReceivedAny
    | nodes.HasLocale
    | nodes.HasTimezone
    | nodes.CreatedBefore
    | nodes.CreatedAfter
    | nodes.Reachable
)
"""A part of an expression that is compiled without other parts."""


class Parameters:
    """The parameters of a statement: a new name for each value."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def add(self, value: object) -> sql.Placeholder:
        """Return the placeholder of a new parameter."""
        name = f"value_{len(self.values)}"
        self.values[name] = value
        return sql.Placeholder(name)


class ConditionCompiler:
    """Compiles the conditions of one expression into SQL and parameters."""

    def __init__(
        self, parameters: Parameters, *, topics: Mapping[str, int], now: dt.datetime
    ) -> None:
        """Remember the parameters.

        Args:
            parameters: gets the values.
            topics: name -> id of each topic of the expression.
            now: the time to which relative times refer.
        """
        self._parameters = parameters
        self._topics = topics
        self._now = now

    def compile(self, expression: Expression) -> sql.Composable:
        """Return the SQL of an expression without saved audiences.

        Raises:
            TypeError: the expression has a saved audience; `resolve` replaces saved audiences.
        """
        match expression:
            case nodes.And(parts) | nodes.Or(parts):
                word: LiteralString = " AND " if isinstance(expression, nodes.And) else " OR "
                return _join(word, [self.compile(part) for part in parts])
            case nodes.Outside(part):
                return sql.SQL("NOT {}").format(self.compile(part))
            case nodes.SavedAudience():
                raise TypeError("a saved audience has to be resolved first")
            case _:
                return self._condition(expression)

    def _condition(self, condition: Condition) -> sql.Composable:
        match condition:
            case nodes.Everyone():
                return sql.SQL("true")
            case nodes.UserIds() | nodes.InTopic() | nodes.InList():
                return self._membership(condition)
            case nodes.HasAttribute():
                return self._attribute(condition)
            case nodes.Received():
                return self._receipt((condition,))
            case nodes.ReceivedAny(conditions):
                return self._receipt(conditions)
            case _:
                return self._column(condition)

    def members_of(self, part: nodes.InTopic | nodes.InList) -> tuple[sql.SQL, sql.Placeholder]:
        """Return the table of a topic or list with its first key column, and the key's value."""
        if isinstance(part, nodes.InTopic):
            key = self._parameters.add(self._topics[part.topic])
            return sql.SQL("topic_subscriber m WHERE m.topic_id"), key
        return sql.SQL("recipient_list_member m WHERE m.list_id"), self._parameters.add(
            part.list_id
        )

    def _membership(
        self, condition: nodes.UserIds | nodes.InTopic | nodes.InList
    ) -> sql.Composable:
        if isinstance(condition, nodes.UserIds):
            given = self._parameters.add(list(condition.user_ids))
            return sql.SQL("r.user_id = ANY ({}::text[])").format(given)
        table, key = self.members_of(condition)
        return sql.SQL("EXISTS (SELECT FROM {} = {} AND m.recipient_id = r.id)").format(table, key)

    def _attribute(self, condition: nodes.HasAttribute) -> sql.Composable:
        name, [operand, *_] = condition.attribute, condition.operands
        match condition.operator:
            case Operator.IS | Operator.IN:
                return self._one_of(condition)
            case Operator.CONTAINS:
                return self._contains({name: [operand]})
            case Operator.EXISTS:
                text = "(r.attributes ? {})" if operand else "NOT (r.attributes ? {})"
                return sql.SQL(text).format(self._parameters.add(name))
            case Operator.AT_LEAST | Operator.AT_MOST:
                return self._number(condition)
            case Operator.BEFORE | Operator.AFTER:
                sign = "<" if condition.operator is Operator.BEFORE else ">="
                return sql.SQL(
                    "(jsonb_typeof(r.attributes -> {name}) = 'string'"
                    ' AND (r.attributes ->> {name}) COLLATE "C" {sign} {time}) IS TRUE'
                ).format(
                    name=self._parameters.add(name),
                    sign=sql.SQL(sign),
                    time=self._parameters.add(self._time(operand)),
                )
            case _:
                assert_never(condition.operator)

    def _one_of(self, condition: nodes.HasAttribute) -> sql.Composable:
        name = condition.attribute
        if len(condition.operands) <= FEW_CHOICES:
            return _join(" OR ", [self._contains({name: each}) for each in condition.operands])
        choices = [orjson.dumps(each).decode() for each in condition.operands]
        return sql.SQL("(r.attributes -> {} = ANY ({}::text[]::jsonb[])) IS TRUE").format(
            self._parameters.add(name), self._parameters.add(choices)
        )

    def _contains(self, value: Mapping[str, object]) -> sql.Composable:
        given = self._parameters.add(orjson.dumps(value).decode())
        return sql.SQL("r.attributes @> {}::text::jsonb").format(given)

    def _number(self, condition: nodes.HasAttribute) -> sql.Composable:
        sign = ">=" if condition.operator is Operator.AT_LEAST else "<="
        return sql.SQL(
            "(jsonb_typeof(r.attributes -> {name}) = 'number'"
            " AND r.attributes -> {name} {sign} {value}::text::jsonb) IS TRUE"
        ).format(
            name=self._parameters.add(condition.attribute),
            sign=sql.SQL(sign),
            value=self._parameters.add(orjson.dumps(condition.operands[0]).decode()),
        )

    def _column(
        self,
        condition: nodes.HasLocale
        | nodes.HasTimezone
        | nodes.CreatedBefore
        | nodes.CreatedAfter
        | nodes.Reachable,
    ) -> sql.Composable:
        match condition:
            case nodes.HasLocale(locales):
                return self._locale(locales)
            case nodes.HasTimezone(zones):
                given = self._parameters.add(list(zones))
                return sql.SQL(ZONE + " = ANY ({}::text[])").format(given)
            case nodes.CreatedBefore(time):
                return sql.SQL("r.created_at < {}::text::timestamptz").format(self._instant(time))
            case nodes.CreatedAfter(time):
                return sql.SQL("r.created_at >= {}::text::timestamptz").format(self._instant(time))
            case nodes.Reachable(channel):
                place = self._parameters.add(int(channel))
                texts = (_NOT_OFF,) if channel is Channel.IN_APP else (_HAS_CONTACT, _NOT_OFF)
                return _join(" AND ", [sql.SQL(each).format(channel=place) for each in texts])
            case _:
                assert_never(condition)

    def _locale(self, locales: Sequence[str]) -> sql.Composable:
        # One condition for all: 10,000 conditions took two seconds to plan.
        patterns = [
            each.replace("_", "-").lower().replace("\\", "\\\\").replace("%", "\\%") + "-%"
            for each in locales
        ]
        return sql.SQL("(" + _LOCALE + " || '-') LIKE ANY ({}::text[])").format(
            self._parameters.add(patterns)
        )

    def _receipt(self, conditions: Sequence[nodes.Received]) -> sql.Composable:
        days = sorted({each.within_days for each in conditions})
        floors = {each: self._parameters.add(self._floor(each)) for each in days}
        alike = [
            part
            for each in days
            for part in self._alike([c for c in conditions if c.within_days == each], floors[each])
        ]
        return sql.SQL(_RECEIVED).format(
            floor=floors[days[-1]],
            any=_join(" OR ", alike),
            statuses=self._parameters.add(RECEIVED),
        )

    def _alike(
        self, conditions: Sequence[nodes.Received], floor: sql.Placeholder
    ) -> Iterator[sql.Composable]:
        """Yield SQL for the types and for the bulk jobs of conditions with the same days."""
        types = [each.type for each in conditions if each.type]
        jobs = [UUID(each.bulk_job) for each in conditions if each.bulk_job]
        if types:
            text: LiteralString = "(n.id >= {} AND n.type = ANY ({}::text[]))"
            yield sql.SQL(text).format(floor, self._parameters.add(types))
        if jobs:
            text = "(n.id >= {} AND n.bulk_job_id = ANY ({}::uuid[]))"
            yield sql.SQL(text).format(floor, self._parameters.add(jobs))

    def _floor(self, days: int) -> UUID:
        return ids.floor_at(self._now - dt.timedelta(days=days))

    def _instant(self, time: str | RelativeDays) -> sql.Placeholder:
        text = self._time(time)
        return self._parameters.add(text if "T" in text else f"{text}T00:00:00Z")

    def _time(self, time: object) -> str:
        if isinstance(time, RelativeDays):
            return attributes.instant_text(self._now + dt.timedelta(days=time.days))
        return str(time)


def _join(word: LiteralString, parts: list[sql.Composable]) -> sql.Composable:
    return sql.SQL("({})").format(sql.SQL(word).join(parts))
