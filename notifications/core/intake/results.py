"""Results of accepted and refused requests, and their stored form for repeats of a whole call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from notifications.core.rules.problems import Problem


@dataclass(frozen=True, slots=True)
class AcceptedRequest:
    """An accepted request, now or before."""

    response: dict[str, Any]
    replayed: bool
    """True if the response belongs to an earlier request with the key; no row was stored."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refused request; no row was stored."""

    problem: Problem


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The results of a batch with a key for the whole call."""

    results: list[AcceptedRequest | Refused]
    replayed: bool


def to_json(result: AcceptedRequest | Refused) -> dict[str, Any]:
    """Serialise a result of a whole call for later repeats."""
    if isinstance(result, AcceptedRequest):
        return {"taken": result.response, "replayed": result.replayed}
    problem = result.problem
    errors = [[error.pointer, error.detail] for error in problem.errors]
    return {"refused": {"kind": problem.kind.value, "detail": problem.detail, "errors": errors}}


def from_json(kept: dict[str, Any]) -> AcceptedRequest | Refused:
    """Read a stored result. `kept`: from `to_json`, of this release or another."""
    if "taken" in kept:
        return AcceptedRequest(kept["taken"], replayed=bool(kept.get("replayed", True)))
    return Refused(Problem.from_stored(kept.get("refused", {})))
