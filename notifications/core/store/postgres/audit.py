"""The audit log: each change by an operator or an API key, in the transaction of the change.

    with audit.changes(by, "resolve_alert", Alert.objects.filter(pk=7)):
        ...                                     one entry for each changed row

    audit.record(by, "force_breaker", breaker, after={"forced": "open"})
                                                an entry for a change without a database row

The log leaves out accepted notifications, because a notification has a timeline.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import models, transaction
from django.db.models import Model, QuerySet

from notifications.core.models import AuditEntry
from notifications.core.rules.audit_facts import Facts, difference

_LONGEST_BY: Final = 150
_Rows = dict[tuple[type[Model], object], tuple[Model, Facts]]


@contextmanager
def changes(by: str, operation: str, *rows: QuerySet[Any]) -> Iterator[list[Model]]:
    """Compare rows before and after a change; reads and change are in one transaction.

    Yields a list: append new objects outside of the `rows` querysets.

    Args:
        by: an operator's user name, or `producer orders (nk_live_4f9k2m7q)`.
        operation: the operation, named as in OpenAPI.
        rows: rows possibly altered or created by the change. Each queryset is read twice, so
            large querysets are expensive.
    """
    with transaction.atomic():
        before, made = _load_rows(rows), list[Model]()
        yield made
        after = _load_rows([*rows, *_again(before)])
        after |= {(each.__class__, each.pk): (each, facts_of(each)) for each in made}
        entries = [
            _entry(by, operation, _object_of(key, before, after), *differing)
            for key in {**before, **after}
            if any(differing := _difference(key, before, after))
        ]
        AuditEntry.objects.bulk_create(entries)


def record(
    by: str,
    operation: str,
    changed: Model,
    *,
    before: Facts | None = None,
    after: Facts | None = None,
) -> None:
    """Write an entry about an object, with the fields before and after."""
    differing = difference(before or {}, after or {})
    _entry(by, operation, changed, *differing).save(force_insert=True)


def record_about(by: str, operation: str, *, object_type: str, name: str, after: Facts) -> None:
    """Write an entry about a subject without a row, such as a provider."""
    AuditEntry.objects.create(
        by=by[:_LONGEST_BY],
        operation=operation,
        object_type=object_type,
        object_name=name[:_LONGEST_BY],
        after=difference({}, after)[1],
        request_id=_request_id(),
    )


def record_made(by_operation: Mapping[tuple[str, str], Sequence[Model]]) -> None:
    """Write an entry for each new object, in one statement; keys: actor and operation."""
    nothing: Facts = {}
    AuditEntry.objects.bulk_create(
        _entry(by, operation, each, *difference(nothing, facts_of(each)))
        for (by, operation), objects in by_operation.items()
        for each in objects
    )


def of_object(*objects: Model) -> QuerySet[AuditEntry]:
    """Return the entries about objects, newest first."""
    wanted = models.Q()
    for each in objects:
        wanted |= models.Q(object_type=each._meta.model_name, object_id=str(each.pk))  # noqa: SLF001 - Django's public name
    return AuditEntry.objects.filter(wanted) if objects else AuditEntry.objects.none()


def of_type(object_type: str) -> QuerySet[AuditEntry]:
    """Return the entries about subjects of a type without rows, newest first."""
    return AuditEntry.objects.filter(object_type=object_type, object_id="")


def facts_of(changed: Model) -> Facts:
    """Return the fields of an object as JSON, without automatically maintained fields."""
    meta = changed._meta  # noqa: SLF001 - Django's public name
    plain = {
        field.name: _plain(changed, field)
        for field in meta.concrete_fields
        if not (field.primary_key or getattr(field, "auto_now", False))
    }
    several = {
        field.name: sorted(map(str, getattr(changed, field.name).all()))
        for field in meta.many_to_many
    }
    return plain | several


def _plain(changed: Model, field: models.Field[Any, Any]) -> object:
    value = getattr(changed, field.attname)
    if field.choices:
        return str(getattr(changed, f"get_{field.name}_display")())
    match value:
        case None | str() | bool() | int() | float() | list() | dict():
            return value
        case dt.datetime() | dt.date() | dt.time():
            return value.isoformat()
        case bytes() | memoryview():
            return bytes(
                value
            ).hex()  # compared, and never shown: see `rules.audit_facts.HIDDEN_FIELDS`
        case UUID():
            return str(value)
        case _:
            return str(value)


def _load_rows(sets: Sequence[QuerySet[Any]]) -> _Rows:
    return {(row.__class__, row.pk): (row, facts_of(row)) for rows in sets for row in rows.all()}


def _again(before: _Rows) -> list[QuerySet[Any]]:
    """Read the rows again by primary key, because a change may move rows out of the queryset."""
    keys: dict[type[Model], list[object]] = {}
    for model, key in before:
        keys.setdefault(model, []).append(key)
    return [model._default_manager.filter(pk__in=some) for model, some in keys.items()]  # noqa: SLF001 - Django's public name


def _object_of(key: tuple[type[Model], object], before: _Rows, after: _Rows) -> Model:
    return (after.get(key) or before[key])[0]


def _difference(
    key: tuple[type[Model], object], before: _Rows, after: _Rows
) -> tuple[dict[str, object], dict[str, object]]:
    nothing: Facts = {}
    was = before[key][1] if key in before else nothing
    now = after[key][1] if key in after else nothing
    return difference(was, now)


def _entry(by: str, operation: str, changed: Model, before: Facts, after: Facts) -> AuditEntry:
    return AuditEntry(
        by=by[:_LONGEST_BY],
        operation=operation,
        object_type=str(changed._meta.model_name),  # noqa: SLF001 - Django's public name
        object_id="" if changed.pk is None else str(changed.pk),
        object_name=str(changed)[:_LONGEST_BY],
        before=before,
        after=after,
        request_id=_request_id(),
    )


def _request_id() -> str:
    return str(structlog.contextvars.get_contextvars().get("trace_id", ""))
