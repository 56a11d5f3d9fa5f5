"""Switches: set a kill switch with reason and expiry, see what waits, resume.

A switch is set in two steps. The second step shows how many deliveries of each priority would wait.
The page of circuit breakers opens the first step for a provider.
"""

from __future__ import annotations

import datetime as dt
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from notifications import clock
from notifications.admin import base
from notifications.admin.audited import LATEST, name_of
from notifications.models import Switch
from notifications.models.choices import CHANNELS
from notifications.models.switch import KINDS
from notifications.operations import switches
from notifications.operations.switches import SwitchRefused, SwitchTarget
from notifications.rules.lane import Priority
from notifications.rules.switches import SwitchKind
from notifications.store.postgres import audit
from providers.contract import Channel

_DURATIONS: Final = (
    ("15", "15 minutes"),
    ("30", "30 minutes"),
    ("60", "1 hour"),
    ("240", "4 hours"),
    ("1440", "1 day"),
    ("", "until an operator resumes"),
)
"""Minutes of a pause, and the label."""
_FORM_KINDS: Final = [kind for kind in KINDS if kind[0] != SwitchKind.BULK_JOB]
"""The page of a bulk job sets the switch of a bulk job."""
LIST: Final = "admin:notifications_switch_changelist"


class SwitchForm(forms.Form):
    """The target, the reason and the duration of a switch."""

    kind = forms.ChoiceField(label="Hold", choices=_FORM_KINDS, widget=UnfoldAdminSelectWidget)
    value = forms.CharField(
        label="Name",
        max_length=64,
        widget=UnfoldAdminTextInputWidget,
        help_text="Of the producer, type, template, channel, provider or lane (such as p3.email).",
    )
    channel = forms.TypedChoiceField(
        label="Channel of the provider",
        choices=[("", "every channel"), *CHANNELS],
        coerce=lambda number: Channel(int(number)),
        empty_value=None,
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(
        label="Why",
        max_length=200,
        widget=UnfoldAdminTextInputWidget,
        help_text="Shown on each held delivery and in the audit log.",
    )
    minutes = forms.ChoiceField(
        label="For how long",
        choices=_DURATIONS,
        initial="30",
        required=False,
        widget=UnfoldAdminSelectWidget,
    )

    def target(self) -> SwitchTarget:
        """Return the target of a valid form."""
        data = self.cleaned_data
        return SwitchTarget(
            kind=SwitchKind(data["kind"]), value=data["value"], channel=data["channel"]
        )

    def expires_at(self) -> dt.datetime | None:
        """Return the end of the pause; None: until an operator resumes."""
        minutes = self.cleaned_data["minutes"]
        return clock.now() + dt.timedelta(minutes=int(minutes)) if minutes else None

    @property
    def duration(self) -> str:
        """Return the label of the chosen duration."""
        return dict(_DURATIONS)[self.cleaned_data["minutes"]]


class SwitchStateFilter(admin.SimpleListFilter):
    """Active or ended switches; the default is the active switches."""

    title = "state"
    parameter_name = "state"

    def lookups(
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's signature
        model_admin: admin.ModelAdmin[Any],  # noqa: ARG002 - Django's signature
    ) -> list[tuple[str, str]]:
        """Return the states."""
        return [("active", "Active"), ("ended", "Ended")]

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
        held = switches.held_by([row]).get(row.pk, {})
        return ", ".join(f"{each.name} {bounded(held[each].count)}" for each in sorted(held)) or "0"

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
        start = {"kind": SwitchKind.PRODUCER.value, "minutes": "30", **request.GET.dict()}
        form = SwitchForm(request.POST) if is_post else SwitchForm(initial=start)
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
        context = {"form": form, "forecast": forecast, "back": reverse(LIST), "p0": Priority.P0}
        title = "Hold deliveries"
        return base.page(self, request, "admin/switch_form.html", title=title, context=context)

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
            "held": self._held(row),
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
        context = {"row": row, "held": self._held(row), "back": reverse(LIST)}
        title = f"Let {row} go"
        return base.page(self, request, "admin/switch_resume.html", title=title, context=context)

    def _held(self, row: Switch) -> list[tuple[str, str, dt.datetime | None]]:
        """Return priority, number and the first end of a time to live."""
        held = switches.held_by([row]).get(row.pk, {})
        return [
            (each.name, bounded(held[each].count), _expiry(row, held[each].first_due))
            for each in sorted(held)
        ]


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


def bounded(count: int) -> str:
    """Return a bounded count for a page: `10,000+` at the bound."""
    return f"{count:,}+" if count >= switches.COUNTED else f"{count:,}"


def hold_link(*, provider: str, channel: Channel) -> str:
    """Return the address of the page that holds a provider on a channel."""
    fields = {"kind": SwitchKind.PROVIDER.value, "value": provider, "channel": channel.value}
    return f"{reverse('admin:notifications_switch_add')}?{urlencode(fields)}"


def _expiry(row: Switch, first_due: dt.datetime) -> dt.datetime | None:
    """Return the first end of a time to live; None if the pause ends before."""
    return None if row.expires_at and first_due >= row.expires_at else first_due
