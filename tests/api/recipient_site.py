"""A URL table with one view of a recipient's data, for the tests of the access."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test.utils import override_settings
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.recipient_access import (
    RecipientView,
    actor_of,
    mode_of,
    recipient_for,
    recipient_id_for,
)
from notifications.core.rules import access
from notifications.core.rules.access import BOTH, AccessRule
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope

READ = AccessRule("GET x", Scope.INBOX_READ, BOTH, token_scope=TokenScope.INBOX_READ)
WRITE = AccessRule("POST x", Scope.INBOX_WRITE)
"""No token may call this operation."""


class OwnDataView(RecipientView):
    """Answers with the recipient."""

    def get(self, request: Request, user_id: str) -> Response:
        row = recipient_for(request, user_id)
        assert row.pk == recipient_id_for(request, user_id)
        told = {"id": row.pk, "mode": mode_of(request).label, "actor": actor_of(request)}
        return Response(told)

    def post(self, request: Request, user_id: str) -> Response:
        return Response({"id": recipient_id_for(request, user_id)})


@pytest.fixture
def serve_own_data(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Serve the view below `/v1/inbox`, beside nothing else."""
    rules = {"GET": READ, "POST": WRITE}

    def rule_of(method: str, *_path: str) -> AccessRule | None:
        return rules.get(method)

    monkeypatch.setattr(access, "rule_of", rule_of)
    with override_settings(ROOT_URLCONF="tests.api.recipient_site"):
        yield


urlpatterns = [path("v1/inbox/<str:user_id>", OwnDataView.as_view())]
handler400 = "notifications.core.api.problems.bad_request"
handler404 = "notifications.core.api.problems.not_found"
