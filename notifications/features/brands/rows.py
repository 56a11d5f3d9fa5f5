"""Brands of this process, read from the table once a second at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from notifications.core import conf
from notifications.core.rules.brand import (
    COLOR,
    DEFAULT,
    DEFAULT_FONT,
    FONTS,
    Brand,
    BrandLink,
    color_fault,
    sender_fault,
)
from notifications.core.store.cached.ttl_cache import Fresh
from notifications.features.brands import models


@Fresh
def every() -> Mapping[int | None, Brand]:
    """Return the stored brands by producer; None: that of the installation."""
    return {row.producer_id: to_brand(row) for row in models.Brand.objects.all()}


def of(producer_id: int | None) -> Brand:
    """Return the brand of a producer; None: that of the installation."""
    stored = every()
    return stored.get(producer_id) or stored.get(None) or DEFAULT


def to_brand(row: models.Brand) -> Brand:
    """Return the brand of a row.

    A sender that NOTIFY_MAIL_SENDERS does not permit any more is left out: the mails leave with the
    sender of the e-mail provider, and the list of the admin shows the address as not permitted.
    Another value that a release after this one may have stored gives way to the default.
    """
    may_send = is_permitted(row.sender_address)
    return Brand(
        producer_id=row.producer_id,
        name=row.name,
        logo_url=row.logo_url,
        logo_alt=row.logo_alt,
        color=COLOR if color_fault(row.color) else row.color,
        font=row.font if row.font in FONTS else DEFAULT_FONT,
        footer=row.footer,
        postal_address=row.postal_address,
        website_url=row.website_url,
        links=tuple(_links(row.links)),
        sender_name=row.sender_name,
        sender_address=row.sender_address if may_send else "",
        reply_to=row.reply_to,
    )


def _links(stored: object) -> Iterator[BrandLink]:
    """Yield the links; an entry of another form is left out, so that no row stops every mail."""
    for each in stored if isinstance(stored, list) else []:
        match each:
            case {"label": str(label), "url": str(url)}:
                yield BrandLink(label, url)
            case _:
                pass


def is_permitted(address: str) -> bool:
    """Return True if the installation may send from an address, or if the address is empty."""
    return not address or not sender_fault(address, conf.current().mail_senders)


forget = every.forget
