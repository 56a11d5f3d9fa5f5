"""JSON to an audience expression. Each fault has a JSON pointer below the expression.

    {"everyone": true}                                  {"user_ids": ["u_1", "u_2"]}
    {"topic": "artist-17"}                              {"upload": 12}    {"snapshot": 13}
    {"audience": "saved name"}                          {"reachable": "email"}
    {"attribute": "plan", "is": "pro"}                  is, in, at_least, at_most, before, after,
                                                        contains, exists
    {"attribute": "seen_on", "before": {"days_ago": 30}}
    {"received": {"type": "NEWS", "within_days": 7}}    {"received": {"bulk_job": "0199..."}}
    {"and": [...]}    {"or": [...]}    {"not": ...}

`locale`, `timezone` and `created_at` are attributes of every recipient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import UUID

from notifications.core.rules import request_faults
from notifications.core.rules.attributes import AttributeKind
from notifications.features.audiences.rules import attribute_conditions, nodes
from notifications.features.audiences.rules.faults import ExpressionError, Place
from notifications.features.audiences.rules.nodes import Expression
from providers.contract import Channel

_LONGEST_USER_ID: Final = 128
_LONGEST_NAME: Final = 100
_LONGEST_TYPE: Final = 64
_MAX_ID: Final = 2**63 - 1
_WEEK_DAYS: Final = 7
_CHANNELS: Final = {channel.label: channel for channel in Channel}


def parse(value: object, *, kinds: Mapping[str, AttributeKind] | None = None) -> Expression:
    """Return the expression of a JSON value.

    Args:
        value: decoded JSON.
        kinds: kinds of the defined attributes. None skips this comparison, for a stored expression,
            which was compared when it was stored.

    Raises:
        ExpressionError: the value is not an expression; the error has the pointers.
    """
    return _ExpressionParser(kinds).parse(value, Place(), depth=1)


class _ExpressionParser:
    """Parses an expression; counts the conditions."""

    def __init__(self, kinds: Mapping[str, AttributeKind] | None) -> None:
        self._kinds = kinds
        self._count = 0

    def parse(self, value: object, place: Place, *, depth: int) -> Expression:
        """Return the expression of a value at a place."""
        self._count += 1
        if depth > nodes.MAX_DEPTH:
            raise place.error(f"is nested too deeply: at most {nodes.MAX_DEPTH} levels")
        if self._count > nodes.MAX_NODES:
            raise place.error(f"an audience may have at most {nodes.MAX_NODES} conditions")
        if not isinstance(value, dict) or not value:
            raise place.error(f"must be an object with one of {', '.join(_KNOWN)}")
        if "attribute" in value:
            return attribute_conditions.parse(value, place, self._kinds)
        for unknown in (name for name in value if name not in _KNOWN):
            raise place.at(unknown).error(_say_known(unknown))
        if len(value) > 1:
            raise place.error("has several conditions; combine conditions with and, or")
        [name] = value
        if name in _CONDITIONS:
            return _CONDITIONS[name](value[name], place.at(name))
        return self._combination(name, value[name], place.at(name), depth)

    def _combination(self, name: str, value: object, place: Place, depth: int) -> Expression:
        match name:
            case "and":
                return nodes.And(self._parts(value, place, depth=depth))
            case "or":
                return nodes.Or(self._parts(value, place, depth=depth))
            case _:
                return nodes.Outside(self.parse(value, place, depth=depth + 1))

    def _parts(self, value: object, place: Place, *, depth: int) -> tuple[Expression, ...]:
        if not isinstance(value, list) or not value:
            raise place.error("must be a list with at least one expression")
        return tuple(
            self.parse(part, place.at(number), depth=depth + 1) for number, part in enumerate(value)
        )


def _say_known(name: object) -> str:
    hint = request_faults.did_you_mean(str(name), _KNOWN)
    return f"unknown condition{hint or '; known are ' + ', '.join(_KNOWN)}"


def _everyone(value: object, place: Place) -> Expression:
    if value is not True:
        raise place.error("must be true")
    return nodes.Everyone()


def _user_ids(value: object, place: Place) -> Expression:
    if not isinstance(value, list) or not value:
        raise place.error("must be a list with at least one user id")
    if len(value) > nodes.MAX_USER_IDS:
        raise place.error(
            f"may have at most {nodes.MAX_USER_IDS} user ids; upload a file for more:"
            " POST /v1/audience-uploads"
        )
    for number, each in enumerate(value):
        _check_text(each, place.at(number), longest=_LONGEST_USER_ID)
    return nodes.UserIds(tuple(dict.fromkeys(value)))


def _topic(value: object, place: Place) -> Expression:
    return nodes.InTopic(_check_text(value, place, longest=_LONGEST_TYPE))


def _upload(value: object, place: Place) -> Expression:
    return nodes.InList(_check_id(value, place))


def _snapshot(value: object, place: Place) -> Expression:
    return nodes.InList(_check_id(value, place), is_snapshot=True)


def _audience(value: object, place: Place) -> Expression:
    return nodes.SavedAudience(_check_text(value, place, longest=_LONGEST_NAME))


def _reachable(value: object, place: Place) -> Expression:
    channel = _CHANNELS.get(value) if isinstance(value, str) else None
    if channel is None:
        raise place.error(f"must be one of {', '.join(_CHANNELS)}")
    return nodes.Reachable(channel)


def _to_received(value: object, place: Place) -> Expression:
    if not isinstance(value, dict):
        raise place.error("must be an object with type or bulk_job, and within_days")
    for name in value.keys() - {"type", "bulk_job", "within_days"}:
        raise place.at(name).error("unknown field; known are type, bulk_job, within_days")
    days = value.get("within_days", nodes.MAX_DAYS if "bulk_job" in value else _WEEK_DAYS)
    if not _is_whole(days) or not 1 <= days <= nodes.MAX_DAYS:
        raise place.at("within_days").error(
            f"must be a whole number of days from 1 to {nodes.MAX_DAYS}"
        )
    if ("type" in value) == ("bulk_job" in value):
        raise place.error("give either type or bulk_job")
    if "type" in value:
        name = _check_text(value["type"], place.at("type"), longest=_LONGEST_TYPE)
        return nodes.Received(days, type=name)
    return nodes.Received(days, bulk_job=_check_uuid(value["bulk_job"], place.at("bulk_job")))


def _check_uuid(value: object, place: Place) -> str:
    try:
        return str(UUID(value if isinstance(value, str) else ""))
    except ValueError:
        raise place.error("must be the id of a bulk job") from None


def _check_id(value: object, place: Place) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MAX_ID:
        raise place.error("must be an id, a whole number")
    return value


def _check_text(value: object, place: Place, *, longest: int) -> str:
    if not isinstance(value, str) or not value or len(value) > longest or "\0" in value:
        raise place.error(f"must be a text of 1 to {longest} characters without a NUL")
    return value


def _is_whole(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    return isinstance(value, int) and not isinstance(value, bool)


_CONDITIONS: Final[Mapping[str, Callable[[object, Place], Expression]]] = {
    "everyone": _everyone,
    "user_ids": _user_ids,
    "topic": _topic,
    "upload": _upload,
    "snapshot": _snapshot,
    "audience": _audience,
    "reachable": _reachable,
    "received": _to_received,
}
_KNOWN: Final = (*_CONDITIONS, "attribute", "and", "or", "not")

__all__ = ["ExpressionError", "parse"]
