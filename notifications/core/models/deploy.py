"""Deploys of this service, for the plots of operators."""

from __future__ import annotations

from django.db import models


class Deploy(models.Model):
    """A release that `migrate` ran as, written when the release differs from the last row's."""

    at = models.DateTimeField(auto_now_add=True)
    release = models.CharField(max_length=64, help_text="NOTIFY_RELEASE, such as 1.8.0.")

    class Meta:
        db_table = "deploy"
        ordering = ("-id",)

    def __str__(self) -> str:
        return self.release
