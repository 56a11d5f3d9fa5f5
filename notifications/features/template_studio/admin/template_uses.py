"""The notification types that used a template in the last seven days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from notifications.core import clock
from notifications.core.figures.questions import Question, ask
from notifications.core.rules.lane import Priority
from notifications.core.rules.rollups import Dimension, Step
from notifications.core.store.cached import notification_types

DAYS: Final = 7
_TYPES: Final = 20
"""Types of an answer, the most frequent ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Notifications of a type with the template."""

    type: str
    a_day: float


def uses(template_id: str) -> list[Use]:
    """Return the types with recent notifications of the template, most frequent first."""
    now = clock.now()
    hour = Step.HOUR.floor(now)
    answer = ask(
        Question(
            metric="accepted",
            start=hour - dt.timedelta(days=DAYS),
            end=hour + Step.HOUR.length,
            step=None,
            by=(Dimension.TYPE,),
            filters={Dimension.TEMPLATE: template_id},
            now=now,
        )
    )
    return [
        Use(type=str(group.key[0]), a_day=float(group.total or 0) / DAYS)
        for group in answer.groups[:_TYPES]
    ]


def marketing_types(found: Sequence[Use]) -> list[str] | None:
    """Return the types of priority P3 whose mails need an unsubscribe link; None without a use."""
    return [each.type for each in found if _is_marketing(each.type)] if found else None


def _is_marketing(name: str) -> bool:
    rule = notification_types.every().get(name)
    return rule is not None and rule.priority is Priority.P3 and not rule.is_mandatory
