"""`/v1/recipients/{user_id}/contacts`: contacts, by a producer's key or by the recipient's own app.

A key with the scope adds and removes any contact. A recipient token registers push addresses of its
own recipient only; `delivery.push_addresses` has the limits.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NoReturn

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api.base_view import MAX_ID, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import (
    RecipientView,
    actor_of,
    mode_of,
    recipient_for,
    token_of,
)
from notifications.core.api.recipient_schemas import ContactAnswer, ContactRequest
from notifications.core.delivery import push_addresses
from notifications.core.intake import contact_changes
from notifications.core.models import Contact, Recipient
from notifications.core.rules import addresses
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.store.postgres import audit, contacts_by_address, recipients, suppressions
from notifications.core.store.postgres.recipients import Address, ContactChange
from providers.contract import Channel


class ContactListView(RecipientView):
    """`/v1/recipients/{user_id}/contacts`: add a contact."""

    @extend_schema(
        operation_id="add_contact",
        summary="Add a contact",
        request=ContactRequest,
        responses={201: ContactAnswer},
        tags=["Recipients"],
    )
    @idempotent
    def post(self, request: Request, user_id: str) -> Response:
        """Add a contact. A known address is updated instead of added again.

        With a recipient token: channel `push`, kind `web_push` (the JSON of a subscription),
        `fcm_token` or `apns_token`, and at most 20 valid push contacts (409).
        """
        wanted = parse_body(request.data, ContactRequest)
        recipient = recipient_for(request, user_id)
        has_token = token_of(request) is not None
        address = _push_address(wanted) if has_token else wanted.as_address()
        with (
            transaction.atomic(),
            audit.changes(actor_of(request), "add_contact", recipient.contacts.all()),
            _by(request, recipient) as change,
        ):
            if has_token:
                _check_number(recipient, address)
            added = recipients.add_contact(recipient, address, change)
        contact = suppressions.with_causes(recipient.contacts.all()).get(pk=added.pk)
        return Response(to_contact(contact).to_json(), status=201)


class ContactDetailView(RecipientView):
    """`/v1/recipients/{user_id}/contacts/{contact_id}`: remove a contact."""

    @extend_schema(
        operation_id="remove_contact",
        summary="Remove a contact",
        responses={204: None},
        tags=["Recipients"],
    )
    def delete(self, request: Request, user_id: str, contact_id: int) -> Response:
        """Stop using a contact; a recipient token removes push contacts only.

        The contact stays stored as invalid, because past deliveries refer to it.
        """
        recipient = recipient_for(request, user_id)
        if contact_id > MAX_ID:
            raise_not_found("contact")
        push = recipient.contacts.filter(pk=contact_id, channel=Channel.PUSH)
        if token_of(request) is not None and not push.exists():
            raise_not_found("contact")
        with (
            audit.changes(actor_of(request), "remove_contact", recipient.contacts.all()),
            _by(request, recipient) as change,
        ):
            removed = recipients.remove_contact(recipient, contact_id=contact_id, change=change)
        if not removed:
            raise_not_found("contact")
        return Response(status=204)


def _by(request: Request, recipient: Recipient) -> AbstractContextManager[ContactChange]:
    return contact_changes.watch(mode_of(request), recipient.user_id, by=actor_of(request))


def _push_address(wanted: ContactRequest) -> Address:
    """Return the contact of a recipient token.

    Raises:
        ProblemError: a recipient token may not register the contact (422).
    """
    if wanted.channel is not Channel.PUSH:
        _raise_invalid("channel", "a recipient token registers the channel push only")
    if wanted.primary:
        _raise_invalid("primary", "a recipient token cannot choose the primary contact")
    try:
        address = push_addresses.normalize(wanted.kind, wanted.address)
    except ValueError as error:
        _raise_invalid("kind" if str(error).startswith("kind") else "address", str(error))
    return Address(channel=Channel.PUSH, address=address, kind=wanted.kind)


def _raise_invalid(field: str, fault: str) -> NoReturn:
    error = FieldError(f"/{field}", fault)
    raise_problem(Problem(Kind.INVALID, f"/{field}: {fault}", (error,)))


def _check_number(recipient: Recipient, address: Address) -> None:
    """Lock the recipient, and refuse a contact above the limit.

    Raises:
        ProblemError: the recipient has too many push contacts (409).
    """
    Recipient.objects.select_for_update().get(pk=recipient.pk)
    valid = recipient.contacts.filter(channel=Channel.PUSH, invalidated_at=None)
    same = contacts_by_address.of_keys([addresses.key(Channel.PUSH, address.address)])
    others = valid.exclude(pk__in=same.filter(recipient=recipient).values("pk"))
    if others.count() >= push_addresses.MOST:
        said = f"the recipient has {push_addresses.MOST} push contacts; remove one first"
        raise_problem(Problem(Kind.CONFLICT, said))


def to_contact(contact: Contact) -> ContactAnswer:
    """Return a contact with the annotations of `suppressions.with_causes`."""
    return ContactAnswer(
        id=contact.pk,
        channel=Channel(contact.channel),
        kind=contact.kind,
        address=contact.address,
        primary=contact.is_primary,
        valid=contact.invalidated_at is None,
        created_at=contact.created_at,
        created_by=contact.created_by,
        changed_at=contact.changed_at,
        changed_by=contact.changed_by,
        invalid_reason=contact.invalid_reason,
        suppressed_for=suppressions.causes_of(contact),
        needs_check=bool(getattr(contact, "needs_check", False)),
    )
