"""Audience expressions of requests, and saved audiences."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from notifications.core.models import Audience
from notifications.core.rules.lane import Mode
from notifications.core.rules.problems import FieldError, Kind, Problem, Refused
from notifications.core.store.cached import attributes
from notifications.features.audiences.rows.resolve import resolve
from notifications.features.audiences.rules import canonical, nodes, parse
from notifications.features.audiences.rules.faults import ExpressionError
from notifications.features.audiences.rules.nodes import Expression


class AudienceRefused(Refused):
    """The saved audience cannot be written so: `problem` names the field."""


def check(value: object, *, mode: Mode) -> Expression:
    """Return the expression of a JSON value; its attributes and names exist.

    Raises:
        ExpressionError: the value is no expression, or an attribute, topic, list or saved audience
            does not exist in the mode.
    """
    try:
        expression = parse.parse(value, kinds=attributes.kinds())
    except ExpressionError:
        attributes.kinds.forget()  # the attribute may be a second old
        expression = parse.parse(value, kinds=attributes.kinds())
    resolve(expression, mode=mode)
    return expression


def save(audience: Audience, value: object, *, by: str) -> Audience:
    """Store a new or changed audience with the expression of a JSON value.

    Raises:
        AudienceRefused: the name is used, a name that other audiences use would change, or the
            audience would contain itself.
        ExpressionError: the value is no expression, or names something unknown.
    """
    mode = Mode(audience.mode)
    expression = check(value, mode=mode)
    before = Audience.objects.filter(pk=audience.pk).values_list("name", flat=True).first()
    if before is not None and before != audience.name:
        _check_unused(before, mode)
    audience.expression = canonical.to_json(expression)
    audience.changed_by = by
    try:
        with transaction.atomic():
            audience.save()
            resolve(nodes.SavedAudience(audience.name), mode=mode)
    except IntegrityError as error:
        problem = FieldError("/name", f"the audience {audience.name} exists already")
        raise AudienceRefused(
            Problem(Kind.INVALID, f"/name: {problem.detail}", (problem,))
        ) from error
    except ExpressionError as error:
        raise AudienceRefused(
            Problem(
                Kind.INVALID, error.error.detail, (FieldError("/audience", error.error.detail),)
            )
        ) from error
    return audience


def delete(audience: Audience) -> None:
    """Delete a saved audience.

    Raises:
        AudienceRefused: another saved audience uses the audience.
    """
    _check_unused(audience.name, Mode(audience.mode))
    audience.delete()


def _check_unused(name: str, mode: Mode) -> None:
    wanted = nodes.SavedAudience(name)
    for row in Audience.objects.filter(mode=mode).exclude(name=name):
        if wanted in nodes.walk(parse.parse(row.expression)):
            raise AudienceRefused(
                Problem(Kind.CONFLICT, f"the audience {row.name} uses the audience {name}")
            )
