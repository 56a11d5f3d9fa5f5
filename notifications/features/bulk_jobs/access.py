"""Access rules of bulk jobs."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_BULK_JOB: Final = "/v1/bulk-jobs/{bulk_job_id}"
RULES: Final = (
    AccessRule("GET /v1/bulk-jobs", Scope.CAMPAIGNS_READ, BOTH, "view_bulkjob"),
    AccessRule("POST /v1/bulk-jobs", Scope.CAMPAIGNS_WRITE, BOTH, "add_bulkjob"),
    AccessRule("POST /v1/bulk-jobs/dry-run", Scope.CAMPAIGNS_WRITE, BOTH, "add_bulkjob"),
    *(
        AccessRule(f"POST {_BULK_JOB}/{change}", Scope.CAMPAIGNS_WRITE, BOTH, "change_bulkjob")
        for change in ("pause", "resume", "cancel")
    ),
    AccessRule(f"GET {_BULK_JOB}", Scope.CAMPAIGNS_READ, BOTH, "view_bulkjob"),
)
