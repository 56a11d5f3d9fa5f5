"""Base class of admin pages: audited changes, a list of audit entries, 404 for malformed ids."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Final

from django.contrib.admin.options import InlineModelAdmin
from django.contrib.admin.utils import unquote
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.forms.models import _get_foreign_key
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern
from unfold.admin import ModelAdmin

from notifications.core.store.postgres import audit

_ROW: Final = re.compile(r"form-[0-9]+-id")
"""Name of the form field with the primary key of a row in an editable list."""
_IDS: Final = frozenset({"object_id", "id"})
"""Parameters of Django's and unfold's paths that hold a primary key."""
_KEY: Final = re.compile(r"[0-9]{1,18}")
LATEST: Final = 20
"""Audit entries shown below an object; the audit log has all entries."""


def name_of(request: HttpRequest) -> str:
    """Return the user name of the operator."""
    return str(request.user.get_username())


class AuditedAdmin(ModelAdmin):
    """A ModelAdmin which audits additions, changes and deletions.

    Actions audit changes themselves.
    """

    list_per_page = 25
    change_form_outer_after_template: str | None = "admin/audit_lines.html"  # type: ignore[assignment]  # unfold types its default, None

    @property
    def urls(self) -> list[URLPattern]:
        """Return the URLs of the model; an id that is no primary key of the model is a 404."""
        found: list[URLPattern] = super().urls
        for each in found:
            each.callback = self._with_an_id(each.callback)
        return found

    def _with_an_id(self, view: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(view)
        def look(request: HttpRequest, **named: object) -> Any:  # noqa: ANN401 - the view's answer
            given = [value for name, value in named.items() if name in _IDS]
            if not all(self._is_id(unquote(str(value))) for value in given):
                raise Http404
            return view(request, **named)

        return look

    def _is_id(self, text: str) -> bool:
        try:
            self.opts.pk.to_python(text)
        except ValidationError:
            return False
        return "\0" not in text

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Audit the changes of an object and inlines by a POST."""
        found = None
        if request.method == "POST" and object_id is not None:
            found = self.get_object(request, unquote(object_id))
        if found is None:
            return super().changeform_view(request, object_id, form_url, extra_context)
        operation = f"change_{self.opts.model_name}"
        with audit.changes(name_of(request), operation, *self._rows(found)):
            return super().changeform_view(request, object_id, form_url, extra_context)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Audit the changes of rows edited in the list."""
        if request.method != "POST" or "_save" not in request.POST or not self.list_editable:
            return super().changelist_view(request, extra_context)
        edited = [
            int(value)
            for name in request.POST
            if _ROW.fullmatch(name) and _KEY.fullmatch(value := request.POST.get(name, ""))
        ]
        rows = self.model._default_manager.filter(pk__in=edited)  # noqa: SLF001 - Django's public name
        with audit.changes(name_of(request), f"change_{self.opts.model_name}", rows):
            return super().changelist_view(request, extra_context)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return True for the columns of the filters and the primary key.

        Django filters a list by each column in the URL: `?address__startswith=m` tells a masked
        address, a session key or a stored variable one character at a time.
        """
        filters = [
            each[0] if isinstance(each, tuple) else getattr(each, "parameter_name", each)
            for each in self.get_list_filter(request)
        ]
        columns = {
            name for each in self.opts.concrete_fields for name in (each.name, each.attname)
        } - {"pk", self.opts.pk.name, *filters}
        allowed: bool = super().lookup_allowed(lookup, value, request)
        return allowed and lookup.partition("__")[0] not in columns

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the actions; without the right to export lists there is no `export_csv`."""
        actions: dict[str, Any] = super().get_actions(request)
        if not request.user.has_perm("notifications.export_list"):
            actions.pop("export_csv", None)
        return actions

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Audit an added object with inlines; called by Django after saving."""
        with audit.changes(name_of(request), f"add_{self.opts.model_name}") as made:
            made.extend(row for rows in self._rows(obj) for row in rows)
        return super().log_addition(request, obj, message)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Delete an object and audit the deletion."""
        with audit.changes(name_of(request), f"delete_{self.opts.model_name}", *self._rows(obj)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete the selected objects and audit the deletion."""
        with audit.changes(name_of(request), f"delete_{self.opts.model_name}", queryset):
            super().delete_queryset(request, queryset)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        change: Any = False,  # noqa: ANN401, FBT002 - Django's signature
        form_url: str = "",
        obj: Any = None,  # noqa: ANN401 - Django's signature
    ) -> HttpResponse:
        """Add the object's latest audit entries to the page."""
        if obj is not None and request.user.has_perm("notifications.view_auditentry"):
            context["audit_entries"] = audit.of_object(*self.get_audited_objects(obj))[:LATEST]
        return super().render_change_form(request, context, add, change, form_url, obj)

    def get_audited_objects(self, obj: Model) -> list[Model]:
        """Return the objects whose audit entries are shown on the page of `obj`."""
        return [row for rows in self._rows(obj) for row in rows]

    def _rows(self, obj: Model) -> list[QuerySet[Any]]:
        """Return the object and the inlines as querysets."""
        model = obj.__class__
        own = model._default_manager.filter(pk=obj.pk)  # noqa: SLF001 - Django's public name
        return [own, *(_of_inline(inline, model, obj) for inline in self.inlines)]


def _of_inline(
    inline: type[InlineModelAdmin[Any, Any]], parent: type[Model], obj: Model
) -> QuerySet[Any]:
    key = _get_foreign_key(parent, inline.model, fk_name=inline.fk_name)
    rows: QuerySet[Any] = inline.model._default_manager.filter(**{key.name: obj.pk})  # noqa: SLF001 - Django's public name
    return rows
