"""Gates: the places at which a feature holds, stops, refuses, reserves or settles.

    delivery.gates.GATES    the deliveries of a claim        (deliveries, now) -> objections
    delivery.deliver.STEPS  the deliveries of a claim        (batch) -> None
    intake.checks.ACCEPT    a list of planned requests       (entries) -> Undo | None
    delivery.call_reservations.RESERVE, SETTLE, SETTLE_RESCUED
                            calls of a wave, calls with outcomes, calls of dead workers
    delivery.receipt_lookups.NOTE
                            accepted calls of a vendor without callbacks
    intake.attachments.KEPT, LIMITS, USED
                            the uploaded files of requests
    delivery.attached.CONTENTS
                            the contents of files            (ids) -> {id: content}
    store.templates.files   the files of templates
    feedback.delivery_receipts.PRICES
                            receipts of a provider           (provider, receipts) -> None

The lists of the core have the order of all gates: they name the places, and `Feature.gates` names
the function for a place. A place is empty without the feature. A place has at most one function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from django.core.checks import Error

from notifications.core import feature


class Place(StrEnum):
    """A place of a feature in a list of the core."""

    DIGEST = "digest"
    """In GATES: holds deliveries for a message that replaces several."""
    BUDGET = "budget"
    """In STEPS: holds deliveries of a spent budget."""
    RESERVE = "reserve"
    """In RESERVE: reserves the prices of calls that are about to begin, and holds others."""
    SETTLE = "settle"
    """In SETTLE: settles the reservations of calls with outcomes."""
    SETTLE_RESCUED = "settle_rescued"
    """In SETTLE_RESCUED: settles the reservations of calls of dead workers."""
    RECEIPT_LOOKUPS = "receipt_lookups"
    """In NOTE: stores accepted calls whose receipts the vendor tells when asked."""
    RECEIPT_PRICES = "receipt_prices"
    """In PRICES: stores the prices and the segments of receipts."""
    SMS_CEILING = "sms_ceiling"
    """In STEPS: holds SMS above a ceiling."""
    LANE_LAG_OF_POSTS = "lane_lag_of_posts"
    """In ACCEPT: refuses posts to a lane that is far behind."""
    SMS_CEILING_OF_POSTS = "sms_ceiling_of_posts"
    """In ACCEPT: refuses posts of SMS above a ceiling."""
    ATTACHMENTS_KEPT = "attachments_kept"
    """In KEPT: returns the files that requests name, and moves their deletion to a later time."""
    ATTACHMENTS_LIMIT = "attachments_limit"
    """In LIMITS: returns the largest size of attachments in a mode, of all or with images."""
    ATTACHMENTS_USED = "attachments_used"
    """In USED: stores the recipients of files; returns uses whose file or recipient is gone."""
    ATTACHMENT_CONTENTS = "attachment_contents"
    """In CONTENTS: returns the contents of files."""
    TEMPLATE_FILES_KEPT = "template_files_kept"
    """In store.templates.files: keeps the files of a version; returns their ids and bytes."""
    TEMPLATE_FILES_FOUND = "template_files_found"
    """In store.templates.files: returns ids and bytes of files of templates."""
    TEMPLATE_FILES_COPIED = "template_files_copied"
    """In store.templates.files: copies files of a producer to the files of templates."""
    TEMPLATE_FILE_STORED = "template_file_stored"
    """In store.templates.files: stores an uploaded file for templates."""


def function_at(place: Place) -> tuple[Callable[..., Any], ...]:
    """Return the function of the feature with the place; empty without the feature.

    Raises:
        ImportError: the function does not exist; the message has the name.
    """
    named = [each.gates[place] for each in feature.all_features() if place in each.gates]
    return tuple(feature.import_function(name) for name in named)


def is_taken(place: Place) -> bool:
    """Return True if an installed feature has a function for the place."""
    return any(place in each.gates for each in feature.all_features())


def wrong_places(**_options: object) -> list[Error]:
    """Return an error for each unknown place and each place with two functions: a Django check."""
    taken = Counter(place for each in feature.all_features() for place in each.gates)
    return [
        Error(
            f"{each.name} has a gate for the place {place!r}, which "
            + ("another feature has, too." if place in set(Place) else "does not exist."),
            hint=f"Use one of {', '.join(Place)} in `gates` of {each.name}.apps, once.",
            id="notifications.E003",
        )
        for each in feature.all_features()
        for place in each.gates
        if place not in set(Place) or taken[place] > 1
    ]
