"""Jobs which encrypt stored values of variables declared sensitive later."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models


class SealingJob(models.Model):
    """The variables of a template which a version newly declares as sensitive.

    Publishing the version creates the job; a sweep processes the job.
    """

    template_id = models.CharField(max_length=64)
    version = models.PositiveIntegerField()
    names = ArrayField(models.CharField(max_length=64))
    created_at = models.DateTimeField()
    position = models.UUIDField(null=True, help_text="The last examined notification.")
    schedules = models.IntegerField(default=0, db_default=0, help_text="Schedules sealed so far.")
    notifications = models.IntegerField(
        default=0, db_default=0, help_text="Notifications sealed so far."
    )
    dead_letters = models.IntegerField(
        default=0, db_default=0, help_text="Dead letters sealed so far."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """A partial index finds unfinished jobs."""

        ordering = ("-id",)
        indexes = (
            models.Index(
                fields=("id",),
                condition=models.Q(finished_at=None),
                name="sealing_job_unfinished",
            ),
        )

    def __str__(self) -> str:
        return f"{self.template_id}: {', '.join(self.names)}"
