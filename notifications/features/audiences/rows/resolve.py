"""Names in an audience expression to rows: saved audiences, topics, recipient lists.

An expression with an unknown name has no recipients to guess: `not` of an unknown topic would be
everyone. So an unknown name is an error, at each page too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from notifications.core.models import Audience, RecipientList, Topic
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_lists import ListKind, ListState
from notifications.features.audiences.rules import nodes, parse
from notifications.features.audiences.rules.faults import ExpressionError, Place
from notifications.features.audiences.rules.nodes import Expression


@dataclass(frozen=True, slots=True)
class ResolvedExpression:
    """An expression without saved audiences, and the rows of its names."""

    stored: Expression
    """As written, for `canonical.to_json`."""
    expression: Expression
    """An equal expression of `merge_searches`, for the statements."""
    topics: Mapping[str, int]
    """Name -> id."""
    list_sizes: Mapping[int, int]
    """Id of a recipient list -> members."""


def resolve(expression: Expression, *, mode: Mode) -> ResolvedExpression:
    """Replace saved audiences by their expressions, and find topics and recipient lists.

    Raises:
        ExpressionError: a topic, list or saved audience does not exist in the mode, a list is not
            ready, saved audiences contain each other, the whole is too large, or it needs too many
            searches of the notifications.
    """
    whole = _inline(expression, Place(), mode, chain=())
    if (
        nodes.depth_of(whole) > nodes.MAX_DEPTH
        or sum(1 for _ in nodes.walk(whole)) > nodes.MAX_NODES
    ):
        raise Place().error(
            f"is too large with its saved audiences: at most {nodes.MAX_NODES} conditions in"
            f" {nodes.MAX_DEPTH} levels"
        )
    stored, whole = whole, nodes.merge_searches(whole)
    if nodes.count_searches(whole) > nodes.MAX_SEARCHES:
        raise Place().error(
            f"needs {nodes.count_searches(whole)} searches of the notifications, at most"
            f" {nodes.MAX_SEARCHES}: put conditions `received` side by side into one `or`"
        )
    parts = list(nodes.walk(whole))
    topics = _topics({each.topic for each in parts if isinstance(each, nodes.InTopic)}, mode)
    lists = _lists({each for each in parts if isinstance(each, nodes.InList)}, mode)
    for part in parts:
        match part:
            case nodes.InTopic(topic) if topic not in topics:
                _refuse(expression, part, f"unknown topic {topic}")
            case nodes.InList(list_id, is_snapshot) if list_id not in lists:
                kind = ListKind.SNAPSHOT if is_snapshot else ListKind.UPLOAD
                _refuse(expression, part, f"unknown {kind} {list_id}, or not ready, or deleted")
            case _:
                pass
    return ResolvedExpression(stored, whole, topics, lists)


def _inline(expression: Expression, place: Place, mode: Mode, chain: tuple[str, ...]) -> Expression:
    match expression:
        case nodes.And(parts):
            below = place.at("and")
            return nodes.And(
                tuple(_inline(part, below.at(n), mode, chain) for n, part in enumerate(parts))
            )
        case nodes.Or(parts):
            below = place.at("or")
            return nodes.Or(
                tuple(_inline(part, below.at(n), mode, chain) for n, part in enumerate(parts))
            )
        case nodes.Outside(part):
            return nodes.Outside(_inline(part, place.at("not"), mode, chain))
        case nodes.SavedAudience(name):
            return _read_saved(name, place.at("audience"), mode, chain)
        case _:
            return expression


def _read_saved(name: str, place: Place, mode: Mode, chain: tuple[str, ...]) -> Expression:
    if name in chain or len(chain) >= nodes.MAX_DEPTH:
        raise place.error(f"the audience {name} contains itself")
    row = Audience.objects.filter(mode=mode, name=name).first()
    if row is None:
        raise place.error(f"unknown audience {name}")
    try:
        return _inline(parse.parse(row.expression), Place(), mode, (*chain, name))
    except ExpressionError as error:
        raise place.error(f"in the audience {name}: {error}") from error


def _topics(names: set[str], mode: Mode) -> dict[str, int]:
    if not names:
        return {}
    rows = Topic.objects.filter(mode=mode, name__in=names, deleted_at=None)
    return dict(rows.values_list("name", "pk"))


def _lists(parts: set[nodes.InList], mode: Mode) -> dict[int, int]:
    if not parts:
        return {}
    kinds = {True: ListKind.SNAPSHOT, False: ListKind.UPLOAD}
    wanted = {part.list_id: kinds[part.is_snapshot] for part in parts}
    rows = RecipientList.objects.filter(
        mode=mode, pk__in=wanted, state=ListState.READY, deleted_at=None
    )
    return {row.pk: row.members for row in rows if row.kind == wanted[row.pk]}


def _refuse(expression: Expression, part: Expression, detail: str) -> NoReturn:
    """Raise an error at the place of a part, or at the expression for a nested saved audience.

    Raises:
        ExpressionError: always.
    """
    place = _place_of(expression, part, Place())
    raise (place or Place()).error(detail)


def _place_of(expression: Expression, part: Expression, place: Place) -> Place | None:
    if expression == part:
        match part:
            case nodes.InTopic():
                return place.at("topic")
            case nodes.InList(_, is_snapshot):
                return place.at("snapshot" if is_snapshot else "upload")
            case _:
                return place
    match expression:
        case nodes.And(parts) | nodes.Or(parts):
            below = place.at("and" if isinstance(expression, nodes.And) else "or")
            found = (_place_of(each, part, below.at(n)) for n, each in enumerate(parts))
            return next((each for each in found if each is not None), None)
        case nodes.Outside(inner):
            return _place_of(inner, part, place.at("not"))
        case _:
            return None
