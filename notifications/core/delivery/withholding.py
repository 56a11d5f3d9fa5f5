"""Withholding: remove text with possible quotes of sensitive variables.

A provider can repeat the message in its answer, in any encoding, and an exception can contain the
arguments of a library. Answers keep their code, exceptions keep their type and source location.
"""

from __future__ import annotations

import traceback
from collections.abc import Collection
from dataclasses import replace
from pathlib import PurePath
from typing import Final
from uuid import UUID

from notifications.core.models import Notification, Template
from notifications.core.rules import ids
from providers.contract import Accepted, Result

NOT_KEPT: Final = "(not kept: the message has sensitive variables)"
"""Replaces the text of a provider's answer."""
_FRAMES: Final = 4
"""Number of innermost stack frames in the error text: the adapter's frames and a library's."""


class CallFailed(Exception):
    """A bug in a render or an adapter raised an exception; names its type and location."""


def without_provider_text(result: Result) -> Result:
    """Return the result without the provider's text."""
    outcome = result.outcome
    if isinstance(outcome, Accepted) or not outcome.detail:
        return result
    return replace(result, outcome=replace(outcome, detail=NOT_KEPT))


def loggable_error(error: BaseException) -> CallFailed:
    """Return a loggable exception for an exception that may quote a message or an address."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"{PurePath(each.filename).name}:{each.lineno} {each.name}" for each in frames]
    return CallFailed(f"{type(error).__name__} in {' > '.join(places)}")


def with_sensitive_variables(delivery_ids: Collection[UUID]) -> set[UUID]:
    """Return the deliveries of templates with sensitive variables."""
    if not delivery_ids:
        return set()
    asked = {each: ids.notification_of(each) for each in delivery_ids}
    sensitive = Template.objects.exclude(sensitive_variables=[]).values("pk")
    found = set(
        Notification.objects.filter(pk__in=set(asked.values()), template__in=sensitive).values_list(
            "pk", flat=True
        )
    )
    return {each for each, notification_id in asked.items() if notification_id in found}
