"""Access rules of topics, saved audiences, uploads and snapshots."""

from __future__ import annotations

from typing import Final

from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.scopes import Scope

_TOPIC: Final = "/v1/topics/{topic}"
_AUDIENCE: Final = "/v1/audiences/{audience_id}"
RULES: Final = (
    AccessRule(
        "GET /v1/recipients/{user_id}/topics", Scope.RECIPIENTS_READ, BOTH, "view_recipient"
    ),
    AccessRule("GET /v1/topics", Scope.RECIPIENTS_READ, BOTH, "view_recipient"),
    AccessRule(f"GET {_TOPIC}", Scope.RECIPIENTS_READ, BOTH, "view_recipient"),
    AccessRule(f"DELETE {_TOPIC}", Scope.RECIPIENTS_WRITE),
    AccessRule(f"GET {_TOPIC}/subscribers", Scope.RECIPIENTS_READ, BOTH, "view_recipient"),
    AccessRule(f"PUT {_TOPIC}/subscribers", Scope.RECIPIENTS_WRITE),
    AccessRule(f"POST {_TOPIC}/subscribers/delete", Scope.RECIPIENTS_WRITE),
    AccessRule(f"PUT {_TOPIC}/subscribers/{{user_id}}", Scope.RECIPIENTS_WRITE),
    AccessRule(f"DELETE {_TOPIC}/subscribers/{{user_id}}", Scope.RECIPIENTS_WRITE),
    AccessRule("GET /v1/audiences", Scope.CAMPAIGNS_READ, BOTH, "view_recipient"),
    AccessRule("POST /v1/audiences", Scope.CAMPAIGNS_WRITE),
    AccessRule("POST /v1/audiences/estimate", Scope.CAMPAIGNS_READ, BOTH, "view_recipient"),
    AccessRule(f"GET {_AUDIENCE}", Scope.CAMPAIGNS_READ, BOTH, "view_recipient"),
    AccessRule(f"PUT {_AUDIENCE}", Scope.CAMPAIGNS_WRITE),
    AccessRule(f"DELETE {_AUDIENCE}", Scope.CAMPAIGNS_WRITE),
    *(
        rule
        for path, name in (
            ("/v1/audience-uploads", "upload_id"),
            ("/v1/audience-snapshots", "snapshot_id"),
        )
        for rule in (
            AccessRule(f"GET {path}", Scope.CAMPAIGNS_READ, BOTH, "view_recipient"),
            AccessRule(f"POST {path}", Scope.CAMPAIGNS_WRITE),
            AccessRule(f"GET {path}/{{{name}}}", Scope.CAMPAIGNS_READ, BOTH, "view_recipient"),
            AccessRule(f"DELETE {path}/{{{name}}}", Scope.CAMPAIGNS_WRITE),
        )
    ),
)
