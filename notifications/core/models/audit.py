"""The audit log of changes by operators and API keys."""

from __future__ import annotations

from django.db import models


class AuditEntry(models.Model):
    """A change of an object. Triggers refuse updates, and deletes of recent rows.

    `before` and `after` have the changed fields only. Addresses are masked; secrets and message
    texts are left out.
    """

    at = models.DateTimeField(auto_now_add=True)
    by = models.CharField(
        max_length=150, help_text="An operator's user name, or a producer with the prefix of a key."
    )
    operation = models.CharField(max_length=64, help_text="As in OpenAPI, like resolve_alert.")
    object_type = models.CharField(max_length=32, help_text="The model's name in small letters.")
    object_id = models.CharField(max_length=64)
    object_name = models.CharField(max_length=150, blank=True)
    before = models.JSONField(default=dict, db_default={})
    after = models.JSONField(default=dict, db_default={})
    request_id = models.CharField(max_length=32, blank=True, help_text="X-Request-Id.")

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"
        indexes = (
            models.Index(fields=("object_type", "object_id", "id"), name="audit_of_object"),
            models.Index(fields=("at",), name="audit_by_age"),
        )

    def __str__(self) -> str:
        return f"{self.operation} {self.object_name or self.object_id}"

    @property
    def fields(self) -> list[str]:
        """Return the names of the changed fields."""
        return sorted({*self.before, *self.after})
