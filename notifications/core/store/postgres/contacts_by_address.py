"""Contacts by address, in any spelling; served by the index `contact_by_key`."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import F, Func, QuerySet, TextField

from notifications.core.models import Contact
from notifications.core.rules import addresses


def of_keys(keys: Collection[str]) -> QuerySet[Contact]:
    """Return the contacts with the keys of addresses (`rules.addresses`).

    A key of one channel can be an address of another channel, so a caller with a channel compares
    the channel too.
    """
    spelled = Func(F("channel"), F("address"), function="suppressible", output_field=TextField())
    return Contact.objects.alias(address_key=spelled).filter(address_key__in=keys)


def of_term(term: str) -> QuerySet[Contact]:
    """Return the contacts with an address in any spelling, of every channel."""
    return of_keys(addresses.search_keys(term))
