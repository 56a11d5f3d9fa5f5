"""Dead letters: inspect, replay and discard. Above the list are groups by cause.

Every action shows a confirmation page first, because an outage causes thousands of dead letters and
a replay sends messages to people.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.widgets import UnfoldBooleanWidget

from notifications.core import clock
from notifications.core.admin import addresses, base, dead_letter_selection, recipient_names
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.admin.dead_letter_filters import FILTERS
from notifications.core.models import DeadLetter, ReplayJob
from notifications.core.operations import replay
from notifications.core.rules import ids, masking, reasons
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.lane import Lane, Mode
from notifications.core.store.postgres import audit, dead_letters
from notifications.core.store.postgres.dead_letters import CAUSE_HOURS, Cause
from providers import graphemes

_CHUNK: Final = 10_000
"""Dead letters discarded per statement, so that locks last for a fraction of a second."""
_SHOWN: Final = 10

_HEIGHT: Final = 20
"""Height of a spark line in the units of its drawing; a bar takes 4 of width."""
_STEP: Final = 4
_EXAMPLE: Final = 120
"""Longest detail of an example, in characters."""


class ReplayForm(forms.Form):
    """Options of a replay."""

    forced = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget,
        label="Include notifications which reached the person",
        help_text="By another channel or a late receipt. The person gets a second message.",
    )
    renews_ttl = forms.BooleanField(
        required=False,
        widget=UnfoldBooleanWidget,
        label="Restart the time to live",
        help_text="Without a restart, expired dead letters are skipped. Never applied to P0.",
    )


@admin.register(DeadLetter)
class DeadLetterAdmin(base.ReadOnlyAdmin):
    """Read-only list with actions to replay and discard."""

    list_display = (
        *("created_at", "reason_label", "user", "type", "lane", "provider", "detail"),
        "resolution",
    )
    list_filter = FILTERS
    list_before_template = "admin/dead_letter_groups.html"  # type: ignore[assignment]  # unfold types its default, None
    search_fields = ("delivery_id",)
    search_help_text = "A delivery's id."
    sortable_by = ()
    fields = (
        *(
            "delivery",
            "recipient",
            "reason_label",
            "meaning",
            "detail",
            "channel",
            "priority",
            "mode",
            "provider",
        ),
        *("address_hash", "created_at", "resolved_at", "resolution", "replay_job", "message"),
    )
    readonly_fields = (
        "delivery",
        "recipient",
        "address_hash",
        "reason_label",
        "meaning",
        "message",
    )
    actions = ("replay", "discard")
    actions_detail = ("replay_one", "discard_one")  # type: ignore[assignment]  # unfold types its default, an empty tuple

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeadLetter]:
        """Add the addresses of the recipients."""
        return recipient_names.with_address(super().get_queryset(request))

    @display(description="Reason", label=True)
    def reason_label(self, letter: DeadLetter) -> str:
        """Return the reason as a label."""
        return letter.reason

    @display(description="Lane")
    def lane(self, letter: DeadLetter) -> str:
        """Return priority and channel: `p1.sms`, in test mode `test.p1.sms`."""
        return Lane.of(letter.mode, letter.priority, letter.channel).name

    @display(description="Recipient")
    def user(self, letter: DeadLetter) -> str:
        """Return the user id of the recipient."""
        return recipient_names.name_of_row(letter, str(letter.snapshot.get("user_id", "")))

    @display(description="Type")
    def type(self, letter: DeadLetter) -> str:
        """Return the notification type, and the template if the snapshot has one."""
        names = (letter.snapshot.get("type"), letter.snapshot.get("template_id"))
        return ", ".join(str(name) for name in names if name)

    @display(description="Meaning")
    def meaning(self, letter: DeadLetter) -> str:
        """Return the description of the reason."""
        return reasons.sentence(letter.reason)

    @display(description="Recipient")
    def recipient(self, letter: DeadLetter) -> str:
        """Return a link to the recipient."""
        page = reverse("admin:notifications_recipient_change", args=[letter.recipient_id])
        user_id = str(letter.snapshot.get("user_id") or letter.recipient_id)
        return base.link(page, recipient_names.name_of_row(letter, user_id))

    @display(description="Address hash")
    def address_hash(self, letter: DeadLetter) -> str:
        """Return the address hash used in logs, with a link to the contact."""
        if letter.contact_id is not None and letter.contact_id < 0:
            return "the recipient's inbox"
        hashed = dead_letters.address_hashes([letter]).get(letter.pk)
        if hashed is None:
            return "the contact was erased"
        page = reverse("admin:notifications_contact_change", args=[letter.contact_id])
        return base.link(page, hashed)

    @display(description="Delivery")
    def delivery(self, letter: DeadLetter) -> str:
        """Return the delivery's id, with a link to the timeline."""
        notification = ids.notification_of(letter.delivery_id)
        page = reverse("admin:notifications_notification_change", args=[notification])
        return base.link(f"{page}#{letter.delivery_id}", letter.delivery_id)

    @display(description="Message")
    def message(self, letter: DeadLetter) -> str:
        """Return the snapshot for a replay after retention, with masked addresses."""
        pretty = masking.mask_text(json.dumps(letter.snapshot, indent=2, ensure_ascii=False))
        return format_html('<pre style="white-space:pre-wrap">{}</pre>', pretty)

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:  # noqa: ANN401 - Django's own annotation
        """Show the groups above the list."""
        groups = _groups_context(request) if request.method == "GET" else {}
        return super().changelist_view(request, {**(extra_context or {}), **groups})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[DeadLetter], search_term: str
    ) -> tuple[QuerySet[DeadLetter], bool]:
        """Search by delivery id, the only column with an index for searches."""
        del request
        if not search_term:
            return queryset, False
        try:
            return queryset.filter(delivery_id=UUID(search_term.strip())), False
        except ValueError:
            return queryset.none(), False

    has_replay_permission = requires("notifications.replay_deadletter")

    @action("Replay", permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> HttpResponse:
        """Open the confirmation page for a replay of the selected dead letters."""
        return self._ask("replay", request, queryset)

    @action("Discard", permissions=["replay"])
    def discard(self, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> HttpResponse:
        """Open the confirmation page for discarding the selected dead letters."""
        return self._ask("discard", request, queryset)

    @action("Replay", url_path="replay", permissions=["replay"], icon="replay")
    def replay_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Open the confirmation page for a replay of the dead letter."""
        del request
        return _to_question("replay", {"ids": object_id})

    @action("Discard", url_path="discard", permissions=["replay"], icon="delete")
    def discard_one(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Open the confirmation page for discarding the dead letter."""
        del request
        return _to_question("discard", {"ids": object_id})

    def _ask(self, verb: str, request: HttpRequest, queryset: QuerySet[DeadLetter]) -> HttpResponse:
        if request.POST.get("select_across") == "1" and not request.GET.get("q"):
            # All matching rows: pass the filters instead of thousands of ids in the URL.
            return _to_question(verb, request.GET.dict())
        chosen = queryset.values_list("pk", flat=True)
        return _to_question(verb, {"ids": ",".join(map(str, chosen))})

    def get_urls(self) -> list[URLPattern]:
        """Add the two confirmation pages."""
        view = self.admin_site.admin_view
        ours = [
            path("replay/", view(self.confirm_replay), name="notifications_deadletter_replay"),
            path("discard/", view(self.confirm_discard), name="notifications_deadletter_discard"),
        ]
        theirs: list[URLPattern] = super().get_urls()
        return ours + theirs

    def confirm_replay(self, request: HttpRequest) -> HttpResponse:
        """Show the selection; on POST start the job and redirect to the progress."""
        wanted = self._get_filter(request)
        form = ReplayForm(request.POST if request.method == "POST" else None)
        confirmed = self._confirmed_filter(request)
        if confirmed and form.is_valid():
            try:
                with audit.changes(name_of(request), "replay_dead_letters") as made:
                    job = replay.start(
                        confirmed,
                        requested_by=name_of(request),
                        forced=form.cleaned_data["forced"],
                        renews_ttl=form.cleaned_data["renews_ttl"],
                    )
                    if job.total:
                        made.append(job)
                    else:
                        job.delete()  # another replay job has the dead letters
            except replay.ReplayRefused as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                return self._to_job(request, job)
        return self._question(request, wanted, verb="Replay", form=form)

    def _to_job(self, request: HttpRequest, job: ReplayJob) -> HttpResponse:
        """Redirect to the progress; after a second click, which finds nothing, to the list."""
        if job.total:
            page = reverse("admin:notifications_replayjob_change", args=[job.pk])
            return HttpResponseRedirect(page)
        text = "No matching dead letter is open any more: another replay job may have them."
        self.message_user(request, text, messages.WARNING)
        return HttpResponseRedirect(reverse("admin:notifications_replayjob_changelist"))

    def confirm_discard(self, request: HttpRequest) -> HttpResponse:
        """Show the selection; on POST discard the dead letters."""
        wanted = self._get_filter(request)
        if confirmed := self._confirmed_filter(request):
            chosen = list(dead_letters.matching(confirmed).values_list("pk", flat=True))
            discarded = sum(
                _discard_letters(chosen[start : start + _CHUNK], by=name_of(request))
                for start in range(0, len(chosen), _CHUNK)
            )
            self.message_user(request, f"{discarded} dead letters discarded.", messages.SUCCESS)
            return HttpResponseRedirect(reverse("admin:notifications_deadletter_changelist"))
        return self._question(request, wanted, verb="Discard", form=None)

    def _get_filter(self, request: HttpRequest) -> LetterFilter:
        if not self.has_replay_permission(request):
            raise PermissionDenied
        try:
            return dead_letter_selection.read(request.GET, now=clock.now())
        except ValueError as error:
            raise BadRequest(str(error)) from error

    def _confirmed_filter(self, request: HttpRequest) -> LetterFilter | None:
        """Return the filter of a confirmed selection; None: there is no confirmation of it."""
        if request.method != "POST":
            return None
        found = dead_letter_selection.confirmed(request)
        if found is None:
            said = "Nothing is done: the page is old, or more dead letters match now. Look again."
            self.message_user(request, said, messages.WARNING)
        return found

    def _question(
        self, request: HttpRequest, wanted: LetterFilter, *, verb: str, form: forms.Form | None
    ) -> HttpResponse:
        moment = clock.now()
        letters = dead_letters.matching(wanted)
        groups = list(
            letters
            .order_by()
            .values("reason", "channel")
            .annotate(count=Count("pk"))
            .order_by("-count")
        )
        names = dict(DeadLetter._meta.get_field("channel").flatchoices)  # noqa: SLF001 - Django's public name
        context = {
            "verb": verb,
            "shown_at": moment.isoformat(),
            "form": form,
            "filter": dead_letter_selection.describe_filter(wanted),
            "total": sum(group["count"] for group in groups),
            "groups": [
                (group["reason"], names[group["channel"]], group["count"]) for group in groups
            ],
            "sample": letters[:_SHOWN],
        }
        return base.page(
            self,
            request,
            "admin/confirm_letters.html",
            title=f"{verb} dead letters",
            context=context,
        )


def _discard_letters(letters: list[int], *, by: str) -> int:
    with audit.changes(by, "discard_dead_letter", DeadLetter.objects.filter(pk__in=letters)):
        return replay.discard(letters, by=by)


def _to_question(verb: str, query: dict[str, str]) -> HttpResponseRedirect:
    page = reverse(f"admin:notifications_deadletter_{verb}")
    return HttpResponseRedirect(f"{page}?{urlencode(query)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _HourBar:
    """An hour of a spark line."""

    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _GroupLine:
    """A group with texts and links."""

    cause: Cause
    sentence: str
    detail: str
    bars: Sequence[_HourBar]
    summary: str
    """The spark line in words."""
    list_url: str
    replay_url: str
    is_test: bool


def _groups_context(request: HttpRequest) -> dict[str, Any]:
    """Return the template context of the groups; empty if the list is filtered or searched."""
    names = {each.parameter_name for each in FILTERS} | {"q", "ids"}
    if any(request.GET.get(name) for name in names):
        return {}
    found = dead_letters.causes()
    return {
        "groups": [_line(request, cause) for cause in found.groups],
        "groups_total": f"{found.letters:,}{'+' if found.is_capped else ''}",
        "may_replay": request.user.has_perm("notifications.replay_deadletter"),
    }


def _line(request: HttpRequest, cause: Cause) -> _GroupLine:
    query = urlencode({
        "reason": cause.reason,
        "channel": cause.channel.value,
        "mode": cause.mode.value,
    })
    recent = sum(cause.by_hour)
    return _GroupLine(
        cause=cause,
        sentence=reasons.sentence(cause.reason),
        detail=graphemes.cut(addresses.text_for(request, cause.detail), _EXAMPLE),
        bars=_bars(cause.by_hour),
        summary=f"{recent} in the last {CAUSE_HOURS} hours, {cause.by_hour[-1]} in the last hour",
        list_url=f"{reverse('admin:notifications_deadletter_changelist')}?{query}",
        replay_url=f"{reverse('admin:notifications_deadletter_replay')}?{query}",
        is_test=cause.mode is Mode.TEST,
    )


def _bars(counts: Sequence[int]) -> list[_HourBar]:
    most = max(*counts, 1)
    heights = [_HEIGHT * count / most for count in counts]
    return [
        _HourBar(x=_STEP * place, y=round(_HEIGHT - height, 2), height=round(height, 2))
        for place, height in enumerate(heights)
        if height
    ]
