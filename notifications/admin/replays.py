"""Replay jobs: progress, and counts of skipped dead letters by reason."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from unfold.decorators import display

from notifications.admin import base
from notifications.models import ReplayJob


@admin.register(ReplayJob)
class ReplayJobAdmin(base.ReadOnlyAdmin):
    """Read-only list: the page of dead letters starts jobs."""

    list_display = ("id", "created_at", "requested_by", "total", "replayed", "skipped", "state")
    sortable_by = ()

    @display(description="State", label={"running": "info", "finished": "success"})
    def state(self, job: ReplayJob) -> str:
        """Return `running` or `finished`."""
        return "finished" if job.finished_at else "running"

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
                "percent": 100 * done // job.total if job.total else 100,
                "outcomes": outcomes.values_list("resolution").annotate(count=Count("pk")),
            },
        )
