"""`/v1/recipients/{user_id}/contacts`: contacts, by a producer's key or by the recipient's own app.

A key with the scope adds and removes any contact. A recipient token registers push addresses of its
own recipient only; `delivery.push_addresses` has the limits.
"""

from __future__ import annotations

from typing import Final, NoReturn

from django.db.models import QuerySet

from notifications.core.api.base_view import raise_not_found
from notifications.core.api.examples import USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_schemas import ContactAnswer, ContactRequest
from notifications.core.api.resource import Resource
from notifications.core.delivery import push_addresses
from notifications.core.intake import contact_changes
from notifications.core.models import Contact, Recipient
from notifications.core.rules import addresses
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import contacts_by_address, recipients, suppressions
from notifications.core.store.postgres.contact_book import Address
from providers.contract import Channel

_USER: Final = {"user_id": USER}


def _removable(call: Call) -> QuerySet[Contact]:
    found = call.recipient().contacts.all()
    return found.filter(channel=Channel.PUSH) if call.token else found


CONTACTS: Final = Resource(
    noun="contact",
    path="v1/recipients/<str:user_id>/contacts/<int:contact_id>",
    rows=_removable,
    answer=ContactAnswer,
    tag="Recipients",
)


@operation(
    "POST v1/recipients/<str:user_id>/contacts",
    "Add a contact",
    Access(Scope.CONTACTS_WRITE, BOTH, "add_contact", TokenScope.CONTACTS_WRITE),
    ContactRequest,
    answers={201: ContactAnswer},
    tag=CONTACTS.tag,
    examples={
        "minimal": Example(
            "A mailbox",
            path=_USER,
            body={"channel": "email", "address": "maria@sandbox.example"},
        ),
        "usual": Example(
            "A phone for SMS that is used first, with an idempotency key",
            path=_USER,
            headers={"Idempotency-Key": "contact-u_789012-2"},
            body={"channel": "sms", "address": "+5511987654321", "primary": True},
        ),
    },
)
def add_contact(call: Call, wanted: ContactRequest) -> ContactAnswer:
    """Add a contact. A known address is updated instead of added again.

    With a recipient token: channel `push`, kind `web_push` (the JSON of a subscription),
    `fcm_token`, `apns_token` or `expo_token`, and at most 20 valid push contacts (409).
    """
    recipient = call.recipient()
    address = _push_address(wanted) if call.token else wanted.as_address()
    with (
        call.changes(recipient.contacts.all()),
        contact_changes.watch(call.mode, recipient.user_id, by=call.by) as change,
    ):
        if call.token:
            _check_number(recipient, address)
        added = recipients.add_contact(recipient, address, change)
        # Read under the lock of the recipient, which an erasure would otherwise remove before.
        return to_contact(suppressions.with_causes(recipient.contacts.all()).get(pk=added.pk))


@operation(
    f"DELETE {CONTACTS.path}",
    "Remove a contact",
    Access(Scope.CONTACTS_WRITE, BOTH, "change_contact", TokenScope.CONTACTS_WRITE),
    answers={204: None},
    tag=CONTACTS.tag,
    examples={
        "minimal": Example("The first contact", path={**_USER, "contact_id": 51}),
        "another": Example("The second contact", path={**_USER, "contact_id": 52}),
    },
)
def remove_contact(call: Call) -> None:
    """Stop using a contact; a recipient token removes push contacts only.

    The contact stays stored as invalid, because past deliveries refer to it.
    """
    contact = CONTACTS.find(call)
    recipient = contact.recipient
    with (
        call.changes(recipient.contacts.all()),
        contact_changes.watch(call.mode, recipient.user_id, by=call.by) as change,
    ):
        removed = recipients.remove_contact(recipient, contact_id=contact.pk, change=change)
    if not removed:
        raise_not_found(CONTACTS.noun)


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
