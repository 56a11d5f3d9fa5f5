"""`/v1/brand`: the brand of the key's producer."""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.rules.access import BOTH, LIVE
from notifications.core.rules.brand import DEFAULT
from notifications.core.rules.scopes import Scope
from notifications.features.brands import checks, models, rows
from notifications.features.brands.api.schemas import BrandAnswer, BrandRequest

_TAG: Final = "Brand"
_CHANGERS: Final = Access(Scope.BRANDS_WRITE, LIVE, "change_brand")


def _own(call: Call) -> QuerySet[models.Brand]:
    return models.Brand.objects.filter(producer_id=call.key.producer_id)


@operation(
    "GET v1/brand",
    "Read the brand of the producer",
    Access(Scope.BRANDS_READ, BOTH, "view_brand"),
    answers={200: BrandAnswer},
    tag=_TAG,
    examples={
        "minimal": Example("The brand of the key's producer"),
        "test": Example("The same brand with a test key"),
    },
)
def get_brand(call: Call) -> BrandAnswer:
    """Return the brand of the key's producer, else that of the installation, else the defaults."""
    own = _own(call).first()
    shared = models.Brand.objects.filter(producer=None).first()
    row = own or shared
    return BrandAnswer.of(rows.to_brand(row) if row else DEFAULT, is_own=own is not None)


@operation(
    "PUT v1/brand",
    "Set the brand of the producer",
    _CHANGERS,
    BrandRequest,
    answers={200: BrandAnswer},
    tag=_TAG,
    examples={
        "minimal": Example("A name", body={"name": "Lieferung"}),
        "usual": Example(
            "Logo, colour, footer and the address for answers",
            body={
                "name": "Lieferung",
                "logo_url": "https://cdn.example.com/logo.png",
                "color": "#b91c1c",
                "font": "georgia",
                "footer": "You get this e-mail because you have an account.",
                "postal_address": "Lieferung GmbH\nHauptstraße 1\n10115 Berlin",
                "website_url": "https://example.com",
                "links": [{"label": "Help", "url": "https://example.com/help"}],
                "sender_name": "Lieferung",
                "reply_to": "help@example.com",
            },
        ),
    },
)
def put_brand(call: Call, wanted: BrandRequest) -> BrandAnswer:
    """Replace the brand of the key's producer. Messages have the new brand within two seconds.

    The brand is that at the time of sending, also for a notification that was accepted before.
    """
    values = checks.normalize(wanted.model_dump())
    with call.changes(_own(call)) as made:
        row, is_new = models.Brand.objects.update_or_create(
            producer_id=call.key.producer_id, defaults=values
        )
        if is_new:
            made.append(row)
    return BrandAnswer.of(rows.to_brand(row), is_own=True)


@operation(
    "DELETE v1/brand",
    "Remove the brand of the producer",
    _CHANGERS,
    answers={204: None},
    tag=_TAG,
    examples={
        "minimal": Example("The producer has the brand of the installation again"),
        "usual": Example("A repeat changes nothing"),
    },
)
def delete_brand(call: Call) -> None:
    """Remove the brand of the key's producer, which then has the brand of the installation."""
    with call.changes(_own(call)):
        _own(call).delete()
