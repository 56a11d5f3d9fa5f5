"""List, watch, pause, resume and cancel bulk jobs: `manage.py bulk_job watch ID`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from time import sleep  # noqa: TID251 - the command of a person waits, not a worker
from typing import Final
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db import connection

from notifications.core.models import BulkJob
from notifications.core.rules.bulk_job import STOPPED, BulkJobState
from notifications.core.store.postgres import audit
from notifications.features.bulk_jobs import changes, figures
from notifications.features.bulk_jobs.create import BulkJobRefused
from notifications.features.bulk_jobs.rules.figures import (
    ProgressLine,
    plain_progress,
    progress_screen,
)

_LISTED: Final = 50
"""Newest jobs in a list."""
_CLEAR: Final = "\x1b[H\x1b[J"
"""Move to the first line of the terminal, and delete the text below."""
_AUTHOR: Final = "manage.py"


class Command(BaseCommand):
    """`manage.py bulk_job list | watch ID | pause ID --reason TEXT | resume ID | cancel ID`."""

    help = (
        "List, watch, pause, resume and cancel bulk jobs. `watch` ends with the job: exit code 0"
        " for a finished job, 1 for a cancelled or aborted job."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        verbs.add_parser("list", help="the newest jobs")
        watch = verbs.add_parser("watch", help="progress until the end of the job")
        watch.add_argument("--every", type=float, default=2.0, help="seconds; default: 2")
        pause = verbs.add_parser("pause", help="send no further message until a resume")
        resume = verbs.add_parser("resume", help="resume a paused job")
        cancel = verbs.add_parser("cancel", help="cancel the messages that have not left")
        for each in (watch, pause, resume, cancel):
            each.add_argument("id", type=UUID, help="the id of the job")
        pause.add_argument("--reason", required=True, help="a sentence for colleagues")
        cancel.add_argument("--reason", default="", help="a sentence for colleagues")

    def handle(self, *, verb: str, **options: object) -> None:
        """Run a verb.

        Raises:
            CommandError: there is no such job, the state forbids the change, or a watched job was
                cancelled or aborted.
        """
        job_id, reason = options.get("id"), str(options.get("reason", ""))
        if not isinstance(job_id, UUID):
            self._list()
            return
        match verb:
            case "watch":
                self._watch(job_id, every=max(float(str(options["every"])), 0.1))
            case "pause":
                self._change(job_id, verb, lambda: changes.pause(job_id, by=_AUTHOR, reason=reason))
            case "resume":
                self._change(job_id, verb, lambda: changes.resume(job_id, by=_AUTHOR))
            case _:
                self._change(
                    job_id, verb, lambda: changes.cancel(job_id, by=_AUTHOR, reason=reason)
                )

    def _list(self) -> None:
        jobs = list(BulkJob.objects.select_related("producer")[:_LISTED])
        for job, found in zip(jobs, figures.of_each(jobs), strict=True):
            self.stdout.write(
                f"{job.pk}  {job.state:<9}  {found.percent:5.1f} %  {found.accepted:>10,}"
                f"  {job.producer.name}  {job.name}"
            )

    def _change(self, job_id: UUID, verb: str, change: Callable[[], BulkJob]) -> None:
        """Change a job, with an audit entry.

        Raises:
            CommandError: there is no such job, or the state forbids the change.
        """
        _find(job_id)
        try:
            with audit.changes(_AUTHOR, f"{verb}_bulk_job", BulkJob.objects.filter(pk=job_id)):
                job = change()
        except BulkJobRefused as refused:
            raise CommandError(refused.problem.detail) from refused
        self.stdout.write(f"{job.pk} is {job.state}.")

    def _watch(self, job_id: UUID, *, every: float) -> None:
        """Print the progress until the end of the job: a screen, or a line for each change.

        Raises:
            CommandError: there is no such job, or the job was cancelled or aborted.
        """
        is_terminal = self.stdout.isatty()
        last = ""
        while True:
            job = _find(job_id)
            line = _line(job)
            text = progress_screen(line) if is_terminal else plain_progress(line)
            if is_terminal:
                self.stdout.write(_CLEAR + text)
            elif text != last:
                self.stdout.write(text)
            self.stdout.flush()
            last = text
            if BulkJobState(job.state).is_final:
                break
            connection.close()  # a watch lasts for hours, and holds no connection meanwhile
            sleep(every)
        if not is_terminal:
            self.stdout.write(progress_screen(line))
        if job.state in STOPPED:
            said = f"The job is {job.state}: {job.state_reason}".rstrip(": ")
            raise CommandError(f"{said}.", returncode=1)


def _find(job_id: UUID) -> BulkJob:
    """Return a job.

    Raises:
        CommandError: there is no such job.
    """
    job = BulkJob.objects.filter(pk=job_id).first()
    if job is None:
        raise CommandError(f"There is no bulk job {job_id}.")
    return job


def _line(job: BulkJob) -> ProgressLine:
    found = figures.of(job)
    return ProgressLine(
        name=job.name,
        state=job.state,
        reason=job.state_reason,
        percent=found.percent,
        estimate=found.estimate,
        examined=found.examined,
        accepted=found.accepted,
        left_out=found.left_out,
        rate=found.rate,
        ends_at=found.ends_at,
        whole=found.whole,
        variants=found.variants,
    )
