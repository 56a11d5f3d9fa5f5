"""`/v1/keys`: rotation of the caller's key."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.idempotency import idempotent
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import ApiKey
from notifications.core.rules.problems import Kind, Problem
from notifications.core.store.postgres import api_keys, audit


class RotateRequest(RequestModel):
    """The overlap in which the old key and the new key work."""

    overlap_hours: Annotated[int, Field(ge=0, le=720)] = 24
    """Hours for which the old key continues to work."""


class KeyRotated(ResponseModel):
    """The new key.

    The response shows the key once; a repeat with the same Idempotency-Key shows the key again.
    """

    key: str
    prefix: str
    scopes: list[str]
    expires_at: dt.datetime | None
    old_key_expires_at: dt.datetime | None


class KeyRotateView(BaseView):
    """`/v1/keys/rotate`: rotate the caller's key."""

    @extend_schema(
        operation_id="rotate_key",
        summary="Rotate the caller's key",
        request=RotateRequest,
        responses={201: KeyRotated},
        tags=["Keys"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a key with the same scopes.

        The key used for the call expires after `overlap_hours`.
        """
        wanted = parse_body(request.data, RotateRequest)
        rows = ApiKey.objects.filter(prefix=key_of(request).prefix)
        actor, overlap = actor_of(request), dt.timedelta(hours=wanted.overlap_hours)
        try:
            with audit.changes(actor, "rotate_key", rows) as news:
                made, secret = api_keys.rotate(rows.get(), overlap=overlap, by=actor)
                news.append(made)
        except api_keys.NotRotatable as error:
            raise_problem(Problem(Kind.CONFLICT, str(error)))
        told = KeyRotated(
            key=secret,
            prefix=made.prefix,
            scopes=made.scopes,
            expires_at=made.expires_at,
            old_key_expires_at=rows.get().expires_at,
        )
        answer = Response(told.to_json(), status=201)
        answer["Cache-Control"] = "no-store"
        return answer
