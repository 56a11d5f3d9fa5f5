"""The recipients of an audience: pages in ascending order of ids, bounds, timezones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from psycopg import sql

from notifications.core import clock
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import arrays, db
from notifications.features.audiences.rows.compiled import AudienceSql, Driver, IdRange, driver_of
from notifications.features.audiences.rows.resolve import ResolvedExpression, resolve
from notifications.features.audiences.rules import nodes
from notifications.features.audiences.rules.nodes import Expression

NO_RECIPIENTS: Final = (0, 0)
_PAGE: Final[LiteralString] = "SELECT r.id FROM {source}{zones} ORDER BY {key} LIMIT {limit}"
_VARIABLES: Final[LiteralString] = (
    "SELECT recipient_id, list_id, variables FROM recipient_list_member"
    " WHERE list_id = ANY (%(lists)s::bigint[]) AND recipient_id = ANY (%(ids)s::bigint[])"
    " AND variables IS NOT NULL"
)
_ENDS: Final[Mapping[type, LiteralString]] = {
    nodes.InTopic: (
        "SELECT min(recipient_id) AS first, max(recipient_id) AS last FROM topic_subscriber"
        " WHERE topic_id = %(id)s"
    ),
    nodes.InList: (
        "SELECT min(recipient_id) AS first, max(recipient_id) AS last FROM recipient_list_member"
        " WHERE list_id = %(id)s"
    ),
}
_ALL_ENDS: Final[LiteralString] = (
    "SELECT min(id) AS first, max(id) AS last FROM notifications_recipient"
)
_ZONES: Final[LiteralString] = """
WITH RECURSIVE found AS (
    (SELECT coalesce(nullif(timezone, ''), phone_timezone) AS zone FROM notifications_recipient
     WHERE mode = %(mode)s ORDER BY zone LIMIT 1)
    UNION ALL
    SELECT next.zone FROM found CROSS JOIN LATERAL (
        SELECT coalesce(nullif(timezone, ''), phone_timezone) AS zone FROM notifications_recipient
        WHERE mode = %(mode)s AND coalesce(nullif(timezone, ''), phone_timezone) > found.zone
        ORDER BY zone LIMIT 1) next
)
SELECT zone FROM found
"""


@dataclass(frozen=True, slots=True)
class Member:
    """A recipient of an audience."""

    recipient_id: int
    variables: Mapping[str, Any] | None = None
    """Columns of the uploads of the audience with the recipient."""


def page(
    expression: Expression,
    *,
    mode: Mode,
    after: int,
    until: int,
    limit: int,
    zones: Sequence[str] | None = None,
) -> list[Member]:
    """Return the recipients of an audience in a range of ids, in ascending order.

    Args:
        expression: the audience.
        mode: recipients of the other mode are never in the audience.
        after: the lowest id, exclusive.
        until: the highest id, inclusive.
        limit: most recipients of the page; fewer recipients end the range.
        zones: only recipients with one of these timezones; "" is a recipient without a timezone.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolved = resolve(expression, mode=mode)
    audience = AudienceSql(resolved, mode=mode, now=clock.now())
    add = audience.parameters.add
    statement = sql.SQL(_PAGE).format(
        source=audience.source(IdRange(after=add(after), until=add(until))),
        zones=sql.SQL("") if zones is None else audience.in_zones(list(zones)),
        key=audience.key,
        limit=add(limit),
    )
    ids = [row["id"] for row in fetch(statement, audience.parameters.values)]
    variables = _variables(resolved, ids)
    return [Member(each, variables.get(each)) for each in ids]


def bounds(expression: Expression, *, mode: Mode) -> tuple[int, int]:
    """Return a lowest and a highest recipient id; no recipient of the audience is outside.

    Reads only the ends of indexes. (0, 0): the audience is empty.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolved = resolve(expression, mode=mode)
    return ends_of(driver_of(resolved), resolved)


def zones(expression: Expression, *, mode: Mode) -> list[str]:
    """Return the timezones of the recipients of the mode, sorted; "" for an unknown timezone.

    A superset of the timezones of the audience: a page of a timezone may be empty. Reads one index
    entry for each timezone.

    Raises:
        ExpressionError: a name in the expression does not exist.
    """
    resolve(expression, mode=mode)
    return [row["zone"] for row in fetch(sql.SQL(_ZONES), {"mode": int(mode)})]


def ends_of(driver: Driver | None, resolved: ResolvedExpression) -> tuple[int, int]:
    """Return the lowest and the highest recipient id of the tables of an audience."""
    if driver is None:
        found = fetch(sql.SQL(_ALL_ENDS), {})
    else:
        found = [
            row
            for part in driver
            for row in fetch(sql.SQL(_ENDS[type(part)]), {"id": _id_of(part, resolved)})
        ]
    filled = [row for row in found if row["first"] is not None]
    if not filled:
        return NO_RECIPIENTS
    return min(row["first"] for row in filled), max(row["last"] for row in filled)


def fetch(
    statement: sql.SQL | sql.Composed, parameters: Mapping[str, object]
) -> list[dict[str, Any]]:
    """Run a statement with a plan for exactly these parameters.

    Raises:
        django.db.Error: the translated error of psycopg.
    """
    with db.cursor() as running:
        running.execute(statement, arrays.bound(parameters), prepare=False)
        return running.fetchall()


def _id_of(part: nodes.InTopic | nodes.InList, resolved: ResolvedExpression) -> int:
    return resolved.topics[part.topic] if isinstance(part, nodes.InTopic) else part.list_id


def _variables(resolved: ResolvedExpression, ids: list[int]) -> dict[int, dict[str, Any]]:
    """Return recipient id -> variables of the uploads; a later upload wins."""
    lists = sorted(_uploads_of(resolved.expression))
    if not lists or not ids:
        return {}
    rows = fetch(sql.SQL(_VARIABLES), {"lists": lists, "ids": ids})
    merged: dict[int, dict[str, Any]] = {}
    for row in sorted(rows, key=lambda each: each["list_id"]):
        merged.setdefault(row["recipient_id"], {}).update(row["variables"])
    return merged


def _uploads_of(expression: Expression) -> set[int]:
    """Return the lists of an expression outside `not`."""
    match expression:
        case nodes.InList(list_id):
            return {list_id}
        case nodes.And(parts) | nodes.Or(parts):
            return {list_id for part in parts for list_id in _uploads_of(part)}
        case _:
            return set()
