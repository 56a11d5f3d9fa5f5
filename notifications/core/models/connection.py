"""The last run of `manage.py connect` for a provider."""

from __future__ import annotations

from django.db import models


class ProviderConnection(models.Model):
    """The findings of the last run of `manage.py connect` for a provider, for operators."""

    provider = models.CharField(max_length=32, unique=True)
    run_at = models.DateTimeField(auto_now=True)
    run_by = models.CharField(max_length=128)
    findings = models.JSONField(
        default=list, db_default=[], help_text="Lines of the run: subject, state and detail."
    )
    per_second = models.FloatField(
        null=True,
        blank=True,
        help_text="Rate limit that the command stored; a different limit is an operator's.",
    )

    class Meta:
        ordering = ("provider",)

    def __str__(self) -> str:
        return self.provider
