"""Writes `docs/tables.md` from the models: `python -m tests.architecture.tables_page`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final, TypeAlias

import django
from django.apps import apps
from django.db.models import CompositePrimaryKey, Field, ForeignKey, Model, OneToOneField

PAGE: Final = Path(__file__).parents[2] / "docs" / "tables.md"
PARTITIONED: Final = ("notification", "delivery", "attempt", "event")
"""Tables with a partition for each day; migration `partitioned_tables.sql` makes them."""
_READ_FROM_ID: Final = {"Delivery": "Notification"}
"""Child to parent where the child's own id tells the parent's (`rules.ids`)."""
_TYPES: Final = {
    "AutoField": "integer",
    "BigAutoField": "bigint",
    "BigIntegerField": "bigint",
    "CharField": "text",
    "SlugField": "text",
    "SmallIntegerField": "smallint",
    "UUIDField": "uuid",
}
_AnyField: TypeAlias = "Field[Any, Any]"


def text() -> str:
    """The page as it has to be."""
    models = sorted(_models(), key=lambda each: each.__name__)
    relations = [line for each in models for line in _relations(each)]
    related = set(" ".join(relations).split())
    return "\n".join([
        "# Tables",
        "",
        "This page is generated from `notifications/core/models/` by",
        "`python -m tests.architecture.tables_page`.",
        "",
        "A solid line is a foreign key. A dotted line is a reference without a foreign key; each",
        "column that refers to a partitioned table is such a reference. A delivery has no column",
        "for its notification: the id of the delivery is the id of the notification plus a number",
        "(`notifications/core/rules/ids.py`). The picture leaves out tables without a reference",
        "and columns that neither identify a row nor refer to another row.",
        "",
        "```mermaid",
        "erDiagram",
        *relations,
        *(line for each in models if each.__name__ in related for line in _entity(each)),
        "```",
        "",
        "| model | table | partitioned by day | module |",
        "| --- | --- | --- | --- |",
        *map(_row, models),
        "",
    ])


def _models() -> list[type[Model]]:
    return list(apps.get_app_config("notifications").get_models())


def _fields(model: type[Model]) -> list[_AnyField]:
    return [each for each in model._meta.fields if not isinstance(each, CompositePrimaryKey)]


def _key_of(model: type[Model]) -> set[str]:
    key = model._meta.pk
    if isinstance(key, CompositePrimaryKey):
        return set(key.field_names)
    return {key.name}


def _parent_of(field: _AnyField) -> str | None:
    """Name the model that a column refers to: by its foreign key, else by its name."""
    if isinstance(field, ForeignKey):
        return str(field.related_model.__name__)
    names = {_snake(each.__name__): each for each in _models()}
    parent = names.get(field.name.removesuffix("_id"))
    is_reference = parent is not None and _type(parent._meta.pk) == _type(field)
    return parent.__name__ if parent and is_reference else None


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")


def _type(field: _AnyField) -> str:
    if isinstance(field, ForeignKey):
        return _type(field.target_field)
    kind = field.get_internal_type()
    return _TYPES.get(kind, kind.removesuffix("Field").lower())


def _relations(model: type[Model]) -> list[str]:
    lines = []
    if parent := _READ_FROM_ID.get(model.__name__):
        lines.append(f'    {parent} ||..o{{ {model.__name__} : "id"')
    for field in _fields(model):
        if (parent := _parent_of(field)) is None:
            continue
        many = "o|" if isinstance(field, OneToOneField) or field.unique else "o{"
        one = "|o" if field.null or field.blank else "||"
        line = "--" if getattr(field, "db_constraint", False) else ".."
        lines.append(f'    {parent} {one}{line}{many} {model.__name__} : "{field.column}"')
    return lines


def _entity(model: type[Model]) -> list[str]:
    """Draw the columns that identify a row or refer to another."""
    keys = _key_of(model)
    lines = []
    for field in _fields(model):
        marks = [
            *(["PK"] if field.name in keys else []),
            *(["FK"] if _parent_of(field) else []),
            *(["UK"] if field.unique and field.name not in keys else []),
        ]
        if marks:
            lines.append(f"        {_type(field)} {field.column} {', '.join(marks)}")
    return [f"    {model.__name__} {{", *lines, "    }"]


def _row(model: type[Model]) -> str:
    table = model._meta.db_table
    is_partitioned = "yes" if table in PARTITIONED else ""
    module = model.__module__.replace(".", "/")
    return f"| `{model.__name__}` | `{table}` | {is_partitioned} | `{module}.py` |"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()
    PAGE.write_text(text())
