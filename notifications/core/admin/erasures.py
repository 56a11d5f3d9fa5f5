"""Erasures of recipients, with receipts."""

from __future__ import annotations

import json

from django.contrib import admin
from unfold.decorators import display

from notifications.core.admin import base
from notifications.core.models import ErasureJob
from notifications.core.store.postgres import erasure


@admin.register(ErasureJob)
class ErasureJobAdmin(base.ReadOnlyAdmin):
    """Read-only list: the API and the admin start erasures. A job has no user id and no address."""

    list_display = (
        *("id", "mode", "requested_by", "created_at", "finished_at"),
        *("contacts", "notifications", "dead_letters", "inbox_items", "archive_keys", "state"),
    )
    fields = (*list_display, "receipt_text", "receipt_signature")
    readonly_fields = ("state", "receipt_text")
    list_filter = ("mode",)
    sortable_by = ()

    @display(
        description="Receipt",
        label={"genuine": "success", "running": "info", "does not match the signature": "danger"},
    )
    def state(self, job: ErasureJob) -> str:
        """Return `running`, or the result of the comparison of receipt and signature."""
        if job.receipt is None:
            return "running"
        return "genuine" if erasure.is_genuine(job) else "does not match the signature"

    @display(description="Receipt")
    def receipt_text(self, job: ErasureJob) -> str:
        """Return the receipt as JSON."""
        return "" if job.receipt is None else json.dumps(job.receipt, indent=2)
