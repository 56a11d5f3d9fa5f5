"""`/v1/keys`: rotation of the caller's key."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

from pydantic import Field

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import ApiKey
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import api_keys


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


@operation(
    "POST v1/keys/rotate",
    "Rotate the caller's key",
    Access(Scope.KEYS_ROTATE, BOTH, "add_apikey"),
    RotateRequest,
    answers={201: KeyRotated},
    tag="Keys",
    problems={Kind.CONFLICT},
    shows_secret=True,
    examples={
        "minimal": Example("Both keys work for a day", body={}),
        "usual": Example(
            "Both keys work for an hour; a repeat gets the same key",
            headers={"Idempotency-Key": "rotation-2026-11"},
            body={"overlap_hours": 1},
        ),
    },
)
def rotate_key(call: Call, wanted: RotateRequest) -> KeyRotated:
    """Create a key with the same scopes.

    The key used for the call expires after `overlap_hours`.
    """
    rows = ApiKey.objects.filter(prefix=call.key.prefix)
    overlap = dt.timedelta(hours=wanted.overlap_hours)
    try:
        with call.changes(rows) as news:
            made, secret = api_keys.rotate(rows.get(), overlap=overlap, by=call.by)
            news.append(made)
    except api_keys.NotRotatable as error:
        raise_problem(Problem(Kind.CONFLICT, str(error)))
    return KeyRotated(
        key=secret,
        prefix=made.prefix,
        scopes=made.scopes,
        expires_at=made.expires_at,
        old_key_expires_at=rows.get().expires_at,
    )
