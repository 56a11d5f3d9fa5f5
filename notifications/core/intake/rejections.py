"""Rejections: the operators' log of refused requests.

A row has the producer, the problem and the JSON pointers, and no submitted value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import structlog
from django.db import Error

from notifications.core import clock
from notifications.core.intake.validation import Caller, IntakeRequest
from notifications.core.models import Rejected
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.redaction import redact

_log = structlog.get_logger(__name__)


def reject(caller: Caller, body: object, problem: Problem) -> None:
    """Log a refused request body of any JSON type.

    Raises:
        django.db.Error: the row could not be stored.
    """
    fields = body if isinstance(body, dict) else {}
    _row(caller, fields.get("user_id"), fields.get("type"), problem).save()


def note(refused: Iterable[tuple[IntakeRequest, Problem]]) -> None:
    """Log refused requests; a database error is logged and affects no request.

    A refusal because of the lag of a lane is no fault of the request and is counted only.
    """
    rows = [
        _row(ask.caller, ask.user_id, ask.request.type, problem)
        for ask, problem in refused
        if problem.kind is not Kind.LANE_BEHIND
    ]
    if not rows:
        return
    try:
        Rejected.objects.bulk_create(rows)
    except Error as error:
        _log.warning("refusals_not_noted", count=len(rows), cause=str(error)[:200])


def note_refused_token(producer_id: int, problem: Problem) -> None:
    """Log a refused recipient token, for the producer's developers to read.

    Anybody may repeat a refused token, so a process logs each fault of a producer once a minute. A
    database error is logged and affects no request.
    """
    name, now = (producer_id, problem.detail), clock.monotonic()
    if now - _noted_at.get(name, -math.inf) < _EVERY_SECONDS:
        return
    if len(_noted_at) >= _MOST_NOTED:
        _noted_at.clear()
    _noted_at[name] = now
    row = Rejected(
        producer_id=producer_id, problem=problem.kind.value, detail=redact(problem.detail)
    )
    try:
        row.save()
    except Error as error:
        _log.warning("refusals_not_noted", count=1, cause=str(error)[:200])


_noted_at: dict[tuple[int, str], float] = {}
"""Producer and fault -> monotonic seconds."""
_EVERY_SECONDS: Final = 60.0
_MOST_NOTED: Final = 1_000


def _row(caller: Caller, user_id: object, type_: object, problem: Problem) -> Rejected:
    return Rejected(
        producer_id=caller.producer_id,
        user_id=_word(user_id, 128),
        type=_word(type_, 64),
        problem=problem.kind.value,
        detail=redact(problem.detail),
        pointers=[_without_names(error.pointer) for error in problem.errors[:20]],
    )


def _word(value: object, length: int) -> str:
    text = value if isinstance(value, str) else ""
    # Postgres rejects NUL, and UTF-8 cannot encode a lone surrogate.
    return text.replace("\x00", "").encode(errors="ignore").decode()[:length]


def _without_names(pointer: str) -> str:
    """Redact a JSON pointer, because a field name of the producer may contain an address."""
    return "/".join(map(redact, pointer.split("/")))[:200]
