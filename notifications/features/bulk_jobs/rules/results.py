"""Results of a bulk job in words, and the comparison of its variants.

    Of 2,009 recipients, 1,950 have a message and 59 have none: 31 had opted out, 28 had no valid
    contact.

The comparison is a two-sided z-test of two proportions with the pooled share (Agresti, Categorical
Data Analysis, section 3.2). The test is not used where a variant is expected to have fewer than 5
messages with or without the metric: the result is then `too few`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from notifications.features.bulk_jobs.rules.left_out import LeftOut

LEVEL: Final = 0.05
"""Probability of a difference by chance below which a difference is significant."""
_LEAST_EXPECTED: Final = 5
"""Least expected messages with and without the metric, of each variant."""
_Z_95: Final = 1.959964
"""Standard deviations around the mean that hold 95 % of a normal distribution."""
_SMALLEST_P: Final = 0.001
"""Probabilities below this number are shown as `p < 0.001`."""
_HAD: Final[Mapping[str, str]] = {
    LeftOut.OPTED_OUT.value: "{n} had opted out",
    LeftOut.SUPPRESSION_LIST.value: "{n} {was} on the suppression list",
    LeftOut.NO_CONTACT.value: "{n} had no valid contact",
    LeftOut.NO_TEXT.value: "{n} had no text on their channels",
    LeftOut.ERASED.value: "{n} {was} deleted",
    LeftOut.INVALID_VARIABLES.value: "{n} had a missing or wrong variable",
    LeftOut.SMS_TOO_LONG.value: "{n} had a text that is too long for SMS",
    LeftOut.SAME_ADDRESS.value: "{n} shared the address of another recipient",
    LeftOut.HOLDOUT.value: "{n} {was} in the holdout",
    LeftOut.FAILED.value: "{n} raised an error",
}
"""Reason -> words for `n` recipients."""


class Verdict(Enum):
    """The result of a comparison."""

    SIGNIFICANT = "significant"
    NOT_SIGNIFICANT = "not significant"
    TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class VariantShare:
    """The sent messages of a variant, and how many of the messages have a metric."""

    name: str
    count: int
    """At most `whole`."""
    whole: int
    """Sent messages."""

    @property
    def part(self) -> float:
        """The share from 0 to 1; 0 without messages."""
        return self.count / self.whole if self.whole else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share from 0 to 1, by Wilson; 0 and 1 without messages."""
        if not self.whole:
            return 0.0, 1.0
        square = _Z_95**2 / self.whole
        middle = self.part + square / 2
        variance = self.part * (1 - self.part) + square / 4
        spread = math.sqrt(square * variance)
        return max(0.0, (middle - spread) / (1 + square)), min(
            1.0, (middle + spread) / (1 + square)
        )


@dataclass(frozen=True, slots=True)
class ShareComparison:
    """The comparison of two shares."""

    verdict: Verdict
    probability: float
    """Probability of such a difference by chance; 1 if the messages are too few."""


def compare(one: VariantShare, other: VariantShare, *, level: float = LEVEL) -> ShareComparison:
    """Compare two shares by a two-sided z-test with the pooled share.

    Args:
        one: a share.
        other: another share.
        level: probability below which the difference is significant.
    """
    whole = one.whole + other.whole
    pooled = (one.count + other.count) / whole if whole else 0.0
    least = min(one.whole, other.whole) * min(pooled, 1 - pooled)
    if least < _LEAST_EXPECTED:
        return ShareComparison(Verdict.TOO_FEW, 1.0)
    error = math.sqrt(pooled * (1 - pooled) * (1 / one.whole + 1 / other.whole))
    probability = math.erfc(abs(one.part - other.part) / error / math.sqrt(2))
    is_significant = probability < level
    verdict = Verdict.SIGNIFICANT if is_significant else Verdict.NOT_SIGNIFICANT
    return ShareComparison(verdict, probability)


def recipients(*, examined: int, accepted: int, left_out: Mapping[str, int], is_over: bool) -> str:
    """Return the recipients with and without a message as a sentence.

    Args:
        examined: recipients with a message or a reason.
        accepted: recipients with a message.
        left_out: reason -> recipients without a message.
        is_over: False: the job examines further recipients.
    """
    if not examined:
        return "No recipient was examined." if is_over else "No recipient is examined yet."
    so_far = "" if is_over else " examined so far"
    without = sum(left_out.values())
    subject = f"Of {examined:,} recipient{_s(examined)}{so_far}, "
    if not without:
        return f"{subject}{accepted:,} {_has(accepted)} a message."
    reasons = ", ".join(_had(reason, count) for reason, count in left_out.items())
    made = f"{accepted:,} {_has(accepted)} a message"
    return f"{subject}{made} and {without:,} {_has(without)} none: {reasons}."


def _had(reason: str, count: int) -> str:
    words = _HAD.get(reason, f"{{n}} for the reason {reason}")
    return words.format(n=f"{count:,}", was=_was(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Counts of the messages of a job."""

    accepted: int
    sent: int
    delivered: int
    opened: int
    clicked: int
    failed: int
    bounced: int
    complained: int


def messages(found: Outcome) -> Iterator[str]:
    """Yield sentences about sent, delivered, opened and clicked messages, and about failures."""
    if not found.accepted:
        return
    yield (
        f"Of {found.accepted:,} message{_s(found.accepted)}, {found.sent:,}"
        f" ({percent(found.sent, found.accepted)}) {_was(found.sent)} sent."
    )
    if found.sent and not (found.delivered or found.opened or found.clicked):
        yield "No receipt has come yet."
    elif found.sent:
        yield (
            f"Of the sent messages, {_part(found.delivered, found.sent)} {_was(found.delivered)}"
            f" delivered, {_part(found.opened, found.sent)} opened and"
            f" {_part(found.clicked, found.sent)} clicked."
        )
    bad = [
        f"{count:,} {words.format(was=_was(count))}"
        for count, words in (
            (found.failed, "failed"),
            (found.bounced, "bounced"),
            (found.complained, "{was} reported as spam"),
        )
        if count
    ]
    if bad:
        yield f"Of all messages, {', '.join(bad)}."


def variants(shares: Sequence[VariantShare], *, verb: str) -> str:
    """Return the shares of variants, the highest first, and the difference of the first two.

    With more than two variants, the level is divided by the number of pairs (Bonferroni), because
    the compared pair is chosen by its figures.

    Args:
        shares: at least two variants.
        verb: participle of the metric, such as `opened`.
    """
    best, second, *others = _in_order(shares)
    rest = [f"{_percent_of(each)} of variant {each.name}" for each in (second, *others)]
    before = f"{', '.join(rest[:-1])} and {rest[-1]}" if others else f"{rest[0]}"
    joint = ", " if others else " and "
    said = f"{_percent_of(best)} of the sent messages of variant {best.name}{joint}{before}"
    found = _compare_best(shares)
    between = f" between {best.name} and {second.name}" if others else ""
    return f"{said} were {verb}. {_verdict(found, between)}"


def is_clear(shares: Sequence[VariantShare]) -> bool:
    """Return True if the difference of the best two variants is significant, as `variants` says."""
    return len(shares) == 1 or _compare_best(shares).verdict is Verdict.SIGNIFICANT


def _in_order(shares: Sequence[VariantShare]) -> list[VariantShare]:
    return sorted(shares, key=lambda each: (-each.part, each.name))


def _compare_best(shares: Sequence[VariantShare]) -> ShareComparison:
    best, second, *_ = _in_order(shares)
    return compare(best, second, level=LEVEL / math.comb(len(shares), 2))


def _verdict(found: ShareComparison, between: str) -> str:
    shown = f"= {found.probability:.3f}"
    if found.probability < _SMALLEST_P:
        shown = f"< {_SMALLEST_P}"
    shown = f"p {shown}".replace(" ", "\N{NO-BREAK SPACE}")
    match found.verdict:
        case Verdict.SIGNIFICANT:
            return f"The difference{between} is significant ({shown})."
        case Verdict.NOT_SIGNIFICANT:
            return f"The difference{between} is not significant ({shown})."
        case Verdict.TOO_FEW:
            return f"The messages are too few to tell about the difference{between}."


def percent(count: int, whole: int) -> str:
    """Return a share with one decimal; a share that is not 0 or 100 % is not shown as such."""
    if not whole or not count:
        return "0 %"
    if count >= whole:
        return "100 %"
    return f"{min(max(100 * count / whole, 0.1), 99.9):.1f} %"


def _percent_of(share: VariantShare) -> str:
    return percent(share.count, share.whole)


def _part(count: int, whole: int) -> str:
    return f"{count:,} ({percent(count, whole)})"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _has(count: int) -> str:
    return "has" if count == 1 else "have"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
