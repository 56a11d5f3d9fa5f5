"""Replay jobs: progress, and counts of skipped dead letters by reason."""

from __future__ import annotations

from typing import Final

from django.contrib import admin, messages
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.decorators import display

from notifications.core.admin import base
from notifications.core.admin.actions import action, requires
from notifications.core.admin.audited import name_of
from notifications.core.models import ReplayJob
from notifications.core.operations import replay
from notifications.core.store.postgres import audit

_STOP: Final = "stop_replay_job"


@admin.register(ReplayJob)
class ReplayJobAdmin(base.ReadOnlyAdmin):
    """Read-only list: the page of dead letters starts jobs."""

    list_display = ("id", "created_at", "requested_by", "total", "replayed", "skipped", "state")
    sortable_by = ()

    @display(
        description="State", label={"running": "info", "stopped": "warning", "finished": "success"}
    )
    def state(self, job: ReplayJob) -> str:
        """Return `running`, `stopped` or `finished`."""
        if not job.finished_at:
            return "running"
        return "stopped" if job.replayed + job.skipped < job.total else "finished"

    actions_detail = ("stop",)  # type: ignore[assignment]  # unfold types its default, an empty tuple

    has_stop_permission = requires("notifications.replay_deadletter")

    @action("Stop", url_path="stop", permissions=["stop"], icon="stop_circle")
    def stop(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for confirmation, then stop the job.

        Raises:
            Http404: the job does not exist.
        """
        job = self.get_object(request, object_id)
        if job is None:
            raise Http404
        back = reverse("admin:notifications_replayjob_change", args=[job.pk])
        if request.method == "POST":
            with audit.changes(name_of(request), _STOP, ReplayJob.objects.filter(pk=job.pk)):
                released = replay.stop(job)
            word = "dead letter stays" if released == 1 else "dead letters stay"
            self.message_user(request, f"{released} {word} open.", messages.SUCCESS)
            return HttpResponseRedirect(back)
        consequence = (
            "Dead letters that the job has not reached stay open and can be replayed later."
            " A replayed dead letter is not called back."
        )
        context = {"verb": "Stop", "consequence": consequence, "back": back}
        return base.page(
            self, request, "admin/ask.html", title=f"Stop replay job {job.pk}", context=context
        )

    @base.own_page
    def change_view(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the progress of a job; the page reloads until the job is finished.

        Raises:
            Http404: the job does not exist.
        """
        job = self.get_object(request, object_id)
        if job is None:
            raise Http404
        done = job.replayed + job.skipped
        outcomes = job.letters.exclude(resolution="").order_by()
        return base.page(
            self,
            request,
            "admin/replay_job.html",
            title=f"Replay job {job.pk}",
            context={
                "job": job,
                "done": done,
                "may_stop": self.has_stop_permission(request),
                "stops": audit.of_object(job).filter(operation=_STOP),
                "percent": 100 * done // job.total if job.total else 100,
                "outcomes": outcomes.values_list("resolution").annotate(count=Count("pk")),
            },
        )
