"""Admin pages whose changes enter the audit log, and that show the entries about their object."""

from __future__ import annotations

import re
from typing import Any, Final

from django.contrib.admin.options import InlineModelAdmin
from django.contrib.admin.utils import unquote
from django.db.models import Model, QuerySet
from django.forms.models import _get_foreign_key
from django.http import HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

from notifications.store.postgres import audit

_ROW: Final = re.compile(r"form-[0-9]+-id")
"""The field of a row's key in a list that is edited."""
_KEY: Final = re.compile(r"[0-9]{1,18}")
LATEST: Final = 20
"""Entries below an object; the list of the log has all of them."""


def name_of(request: HttpRequest) -> str:
    """The operator, as the log names them."""
    return str(request.user.get_username())


class AuditedAdmin(ModelAdmin):
    """What is added, changed and deleted here is in the log; so is what an action wraps itself."""

    change_form_outer_after_template: str | None = "admin/audit_lines.html"  # type: ignore[assignment]  # unfold types its default, None

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Compare the object and its inlines before and after a POST."""
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
        """Compare the rows that are edited in the list before and after."""
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

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:  # noqa: ANN401 - Django's signature
        """Django calls this when a new object is saved with its inlines."""
        with audit.changes(name_of(request), f"add_{self.opts.model_name}") as made:
            made.extend(row for rows in self._rows(obj) for row in rows)
        return super().log_addition(request, obj, message)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        """Delete one object."""
        with audit.changes(name_of(request), f"delete_{self.opts.model_name}", *self._rows(obj)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Delete those that an operator chose in the list."""
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
        """With what the log says of the object."""
        if obj is not None and request.user.has_perm("notifications.view_auditentry"):
            context["audit_entries"] = audit.of_object(*self.audited_with(obj))[:LATEST]
        return super().render_change_form(request, context, add, change, form_url, obj)

    def audited_with(self, obj: Model) -> list[Model]:
        """The objects whose entries stand on the page of `obj`."""
        return [row for rows in self._rows(obj) for row in rows]

    def _rows(self, obj: Model) -> list[QuerySet[Any]]:
        """The object and its inlines."""
        model = obj.__class__
        own = model._default_manager.filter(pk=obj.pk)  # noqa: SLF001 - Django's public name
        return [own, *(_of_inline(inline, model, obj) for inline in self.inlines)]


def _of_inline(
    inline: type[InlineModelAdmin[Any, Any]], parent: type[Model], obj: Model
) -> QuerySet[Any]:
    key = _get_foreign_key(parent, inline.model, fk_name=inline.fk_name)
    rows: QuerySet[Any] = inline.model._default_manager.filter(**{key.name: obj.pk})  # noqa: SLF001 - Django's public name
    return rows
