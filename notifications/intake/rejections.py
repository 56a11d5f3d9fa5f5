"""Rejections: the operators' log of refused requests.

A row has the producer, the problem and the JSON pointers, and no submitted value.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from django.db import Error

from notifications.intake.validation import Caller, IntakeRequest
from notifications.models import Rejected
from notifications.rules.problems import Problem
from notifications.rules.redaction import redact

_log = structlog.get_logger(__name__)


def reject(caller: Caller, body: object, problem: Problem) -> None:
    """Log a refused request body of any JSON type.

    Raises:
        django.db.Error: the row could not be stored.
    """
    fields = body if isinstance(body, dict) else {}
    _row(caller, fields.get("user_id"), fields.get("type"), problem).save()


def note(refused: Iterable[tuple[IntakeRequest, Problem]]) -> None:
    """Log refused requests; a database error is logged and affects no request."""
    rows = [_row(ask.caller, ask.user_id, ask.request.type, problem) for ask, problem in refused]
    if not rows:
        return
    try:
        Rejected.objects.bulk_create(rows)
    except Error as error:
        _log.warning("refusals_not_noted", count=len(rows), cause=str(error)[:200])


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
