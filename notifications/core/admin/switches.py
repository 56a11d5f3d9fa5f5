"""Switches: set a kill switch with reason and expiry, see the waiting deliveries, resume.

A switch is set in three steps: the kind, the name with the reason, and the number of deliveries of
each priority that would wait. The page of circuit breakers opens the second step for a provider.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.decorators import display

from notifications.core import clock
from notifications.core.admin import base
from notifications.core.admin.audited import LATEST, name_of
from notifications.core.admin.switch_form import KINDS, SwitchForm
from notifications.core.models import Switch
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchRefused
from notifications.core.rules.lane import Priority
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import audit
from providers.contract import Channel

LIST: Final = "admin:notifications_switch_changelist"


class SwitchStateFilter(base.ChoiceFilter):
    """Filter for active or ended switches."""

    title = "state"
    parameter_name = "state"
    offered = (("active", "Active"), ("ended", "Ended"))

    def queryset(self, request: HttpRequest, queryset: QuerySet[Switch]) -> QuerySet[Switch]:
        """Restrict the list to a state."""
        del request
        ended = Q(resumed_at__isnull=False) | Q(expires_at__lte=clock.now())
        match self.value():
            case "active":
                return queryset.exclude(ended)
            case "ended":
                return queryset.filter(ended)
            case _:
                return queryset


@admin.register(Switch)
class SwitchAdmin(base.ReadOnlyAdmin):
    """List of switches, with pages to set and to resume a switch."""

    list_display = ("what", "state", "reason", "set_by", "set_at", "until", "waiting")
    list_filter = (SwitchStateFilter, "kind")
    sortable_by = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return True if the operator may set switches, of any kind or of providers."""
        return may_set(request, kind=SwitchKind.PROVIDER)

    @display(description="Holds")
    def what(self, row: Switch) -> str:
        """Return kind and name of the target."""
        return str(row)

    @display(description="State", label={"holds": "danger", "ended": "success"})
    def state(self, row: Switch) -> str:
        """Return `holds` or `ended`."""
        return "holds" if is_active(row) else "ended"

    @display(description="Until")
    def until(self, row: Switch) -> dt.datetime | str:
        """Return the end of the pause."""
        return row.resumed_at or row.expires_at or "resumed by an operator"

    @display(description="Waiting")
    def waiting(self, row: Switch) -> str:
        """Return the number of held deliveries, from P0 to P3."""
        held = switches.by_switch([row]).get(row.pk, {})
        return ", ".join(f"{each.name} {to_text(held[each].count)}" for each in sorted(held)) or "0"

    def get_urls(self) -> list[URLPattern]:
        """Add the page that resumes a switch."""
        view = self.admin_site.admin_view
        ours = [path("<int:pk>/resume/", view(self.resume), name="notifications_switch_resume")]
        theirs: list[URLPattern] = super().get_urls()
        return ours + theirs

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's signature
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002 - Django's signature
    ) -> HttpResponse:
        """Ask for target, reason and duration; then show the counts; then set the switch.

        Raises:
            PermissionDenied: the operator may not set switches.
        """
        if not self.has_add_permission(request):
            raise PermissionDenied
        is_post = request.method == "POST"
        kinds = [kind for kind in KINDS if may_set(request, kind=kind)]
        kind = _kind(request, kinds)
        if kind is None:
            return self._ask_kind(request, kinds)
        start = {"minutes": "30", **request.GET.dict(), "kind": kind.value}
        form = SwitchForm(kind, request.POST) if is_post else SwitchForm(kind, initial=start)
        forecast = None
        if is_post and form.is_valid() and "change" not in request.POST:
            try:
                switches.check(form.target())
                if not may_set(request, kind=form.target().kind):
                    raise PermissionDenied
                if "confirmed" in request.POST:
                    return self._set(request, form)
                forecast = switches.forecast(form.target())
            except SwitchRefused as refused:
                form.add_error(refused.field, str(refused))
        context = {
            "form": form,
            "forecast": forecast,
            "back": reverse(LIST),
            "p0": Priority.P0,
            "others": len(kinds) > 1,
        }
        title = f"Hold a {kind}"
        return base.page(self, request, "admin/switch_form.html", title=title, context=context)

    def _ask_kind(self, request: HttpRequest, kinds: list[SwitchKind]) -> HttpResponse:
        """Show the kinds as links to the form of each."""
        context = {"kinds": [(kind.value, KINDS[kind]) for kind in kinds], "back": reverse(LIST)}
        title = "Hold deliveries"
        return base.page(self, request, "admin/switch_kind.html", title=title, context=context)

    def _set(self, request: HttpRequest, form: SwitchForm) -> HttpResponse:
        by = name_of(request)
        with audit.changes(by, "set_switch") as made:
            row = switches.set_switch(
                form.target(),
                reason=form.cleaned_data["reason"],
                expires_at=form.expires_at(),
                by=by,
            )
            made.append(row)
        text = f"{row} is held {form.duration}. All processes hold it within two seconds."
        self.message_user(request, text, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:notifications_switch_change", args=[row.pk]))

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show a switch and the deliveries that wait.

        Raises:
            Http404: the switch does not exist.
        """
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        context = {
            "row": row,
            "is_active": is_active(row),
            "held": self._count_rows(row),
            "may_resume": may_resume(request, kind=row.kind),
            "audit_entries": audit.of_object(row)[:LATEST]
            if request.user.has_perm("notifications.view_auditentry")
            else (),
        }
        return base.page(
            self, request, "admin/switch.html", title=f"Switch {row.pk}", context=context
        )

    def resume(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Ask for confirmation, then resume.

        Raises:
            Http404: the switch does not exist.
            PermissionDenied: the operator may not resume switches.
        """
        rows = Switch.objects.filter(pk=pk)
        row = rows.first()
        if row is None:
            raise Http404
        if not may_resume(request, kind=row.kind):
            raise PermissionDenied
        if request.method == "POST":
            with audit.changes(name_of(request), "resume_switch", rows):
                switches.resume(rows, by=name_of(request))
            self.message_user(request, f"{row}: resumed.", messages.SUCCESS)
            back = reverse("admin:notifications_switch_change", args=[pk])
            return HttpResponseRedirect(back)
        context = {"row": row, "held": self._count_rows(row), "back": reverse(LIST)}
        title = f"Let {row} go"
        return base.page(self, request, "admin/switch_resume.html", title=title, context=context)

    def _count_rows(self, row: Switch) -> list[tuple[str, str, dt.datetime | None]]:
        """Return priority, number and the first end of a time to live."""
        held = switches.by_switch([row]).get(row.pk, {})
        return [
            (each.name, to_text(held[each].count), _expiry(row, held[each].first_due))
            for each in sorted(held)
        ]


def _kind(request: HttpRequest, kinds: list[SwitchKind]) -> SwitchKind | None:
    """Return the kind of the form; None: the operator has to choose.

    A form of a kind without a right goes on to the check of rights.
    """
    if request.method == "POST":
        return next((kind for kind in KINDS if kind == request.POST.get("kind")), None)
    if len(kinds) == 1:
        return kinds[0]
    return next((kind for kind in kinds if kind == request.GET.get("kind")), None)


def may_set(request: HttpRequest, *, kind: str) -> bool:
    """Return True if the operator may set a switch of a kind."""
    return _may(request, "notifications.add_switch", kind)


def may_resume(request: HttpRequest, *, kind: str) -> bool:
    """Return True if the operator may resume a switch of a kind.

    The switch of a paused bulk job ends with the pause of the job.
    """
    return kind != SwitchKind.BULK_JOB and _may(request, "notifications.change_switch", kind)


def _may(request: HttpRequest, right: str, kind: str) -> bool:
    """Check a right; `hold_provider` is enough for a switch of a provider."""
    is_provider = kind == SwitchKind.PROVIDER
    may_hold = is_provider and request.user.has_perm("notifications.hold_provider")
    return bool(may_hold or request.user.has_perm(right))


def is_active(row: Switch) -> bool:
    """Return True if a switch holds deliveries now."""
    return row.resumed_at is None and (row.expires_at is None or row.expires_at > clock.now())


def to_text(count: int) -> str:
    """Return a bounded count for a page: `10,000+` at the bound."""
    return f"{count:,}+" if count >= switches.COUNTED else f"{count:,}"


def hold_link(*, provider: str, channel: Channel) -> str:
    """Return the address of the page that holds a provider on a channel."""
    fields = {"kind": SwitchKind.PROVIDER.value, "value": provider, "channel": channel.value}
    return f"{reverse('admin:notifications_switch_add')}?{urlencode(fields)}"


def _expiry(row: Switch, first_due: dt.datetime) -> dt.datetime | None:
    """Return the first end of a time to live; None if the pause ends before."""
    return None if row.expires_at and first_due >= row.expires_at else first_due
