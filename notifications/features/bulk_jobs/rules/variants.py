"""Variants of a bulk job: the variant of a recipient, or no message.

    hash of job and recipient ──┬── holdout: no message
                                ├── sample or rest, if the job has a rule for a winner
                                └── variant

The three choices use different bytes of a hash, so a choice is independent of other choices, of the
order of the recipients and of the time: a second run of a page chooses the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from notifications.features.bulk_jobs.rules.results import VariantShare, is_clear

_ALL: Final = 100
"""Percent."""
_BYTES: Final = 4
"""Of the hash for a choice; the remainder of a division by 100 favours no value by over 1e-7."""

ENOUGH_SENT: Final = 30
"""Least sent messages of each variant for a comparison."""


class Divided(Protocol):
    """The columns of a bulk job that divide the audience."""

    id: UUID
    template: int
    variants: Sequence[Mapping[str, Any]]
    holdout_percent: int
    winner_rule: Mapping[str, Any] | None
    winner: str


class Variant(NamedTuple):
    """The variant of a recipient."""

    name: str
    """Empty: the job has no variants."""
    template: int
    """The pinned template version's row."""
    template_variant: str = ""
    """The variant of the template's texts; empty: the base texts."""


def choose(job: Divided, recipient_id: int) -> Variant | None:
    """Return the variant of a recipient; None: the holdout, no message.

    Recipients outside the sample get the winner as soon as the job has one.
    """
    holdout, sample, share = _places(job.id, recipient_id)
    if holdout < job.holdout_percent:
        return None
    if job.winner and job.winner_rule and sample >= job.winner_rule["sample_percent"]:
        return _variant(job, job.winner)
    for each in job.variants:
        share -= each["percent"]
        if share < 0:
            return _as_variant(each)
    return Variant("", job.template)


def is_in_sample(job: Divided, recipient_id: int) -> bool:
    """Return True if the recipient belongs to the sample that decides the winner.

    Without a rule for a winner, the sample is the whole audience.
    """
    if not job.winner_rule:
        return True
    return bool(_places(job.id, recipient_id)[1] < job.winner_rule["sample_percent"])


def _variant(job: Divided, name: str) -> Variant:
    for each in job.variants:
        if each["name"] == name:
            return _as_variant(each)
    return Variant("", job.template)


def _as_variant(stored: Mapping[str, Any]) -> Variant:
    """Return a variant of a job; a job of an earlier release has no variants of texts."""
    return Variant(stored["name"], stored["template"], stored.get("template_variant", ""))


def _places(job_id: UUID, recipient_id: int) -> tuple[int, int, int]:
    """Return three independent numbers below 100, for the holdout, the sample and the variant."""
    hashed = job_id.bytes + recipient_id.to_bytes(8, "big")
    digest = hashlib.blake2b(hashed, digest_size=3 * _BYTES).digest()
    holdout, sample, share = (
        int.from_bytes(digest[start : start + _BYTES], "big") % _ALL
        for start in range(0, 3 * _BYTES, _BYTES)
    )
    return holdout, sample, share


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The result of a variant in the sample."""

    name: str
    sent: int
    count: int
    """Messages with the metric: delivered, read or clicked."""

    @property
    def share(self) -> float:
        """Return the part of the sent messages, from 0 to 1."""
        return min(1.0, self.count / self.sent) if self.sent else 0.0


class Winner(NamedTuple):
    """The choice, with a sentence for operators."""

    name: str
    reason: str


def choose_winner(results: Sequence[VariantResult], *, metric: str) -> Winner:
    """Return the variant for the other recipients. A tie, or too little data, gives the first.

    Without a significant difference of the best two (`results.is_clear`), the best is sent as well,
    because it costs nothing, and the sentence says that there is no clear winner.

    Args:
        results: in the order of the variants of the job, at least one.
        metric: name for the sentence.
    """
    first = results[0]
    said = "; ".join(f"{each.name}: {each.share:.1%} of {each.sent} {metric}" for each in results)
    if any(each.sent < ENOUGH_SENT for each in results):
        why = f"each variant needs {ENOUGH_SENT} sent messages"
        return Winner(first.name, f"The first variant {first.name} is sent: {why} ({said}).")
    best = max(each.share for each in results)
    leaders = [each for each in results if each.share == best]
    if len(leaders) > 1:
        return Winner(first.name, f"The first variant {first.name} is sent: a tie ({said}).")
    name = leaders[0].name
    shares = [VariantShare(each.name, min(each.count, each.sent), each.sent) for each in results]
    if is_clear(shares):
        return Winner(name, f"Variant {name} won ({said}).")
    return Winner(
        name, f"No clear winner: variant {name} is sent, and the difference may be chance ({said})."
    )
