"""`/v1/recipients`: who can be notified, where, and what they allow.

Recipients are company-wide: any producer's key with the scope sees and changes them all. Contacts
and preferences have scopes of their own: a contact decides who reads a one-time password.
"""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import extend_schema
from pydantic import TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.api.authentication import actor_of, key_of, permit
from notifications.api.door import MAX_ID, Door, absent, shaped
from notifications.api.idempotency import idempotent
from notifications.api.problems import refuse
from notifications.api.recipient_shapes import (
    ContactAnswer,
    ContactRequest,
    PreferencesAnswer,
    PreferencesRequest,
    RecipientAnswer,
    RecipientRequest,
)
from notifications.models import Contact, Preference, Recipient
from notifications.rules.problems import FieldError, Kind, Problem
from notifications.rules.request import UserId
from notifications.store import address_book, audit, dead_letters, suppressions
from providers.contract import Channel

_USER_ID: Final = TypeAdapter(UserId)


class One(Door):
    """A recipient."""

    @extend_schema(
        operation_id="put_recipient",
        summary="Create or change a recipient",
        request=RecipientRequest,
        responses={200: RecipientAnswer, 201: RecipientAnswer},
        tags=["Recipients"],
    )
    def put(self, request: Request, user_id: str) -> Response:
        """An address that a provider called dead stays invalid when it is handed in again."""
        wanted = shaped(request.data, RecipientRequest)
        profile = wanted.model_dump(include={"locale", "timezone"}, exclude_none=True)
        contacts = (
            None if wanted.contacts is None else [one.as_address() for one in wanted.contacts]
        )
        if contacts is not None:
            permit(request, part="contacts")
        mode, user_id = key_of(request).mode, _checked(user_id)
        with audit.changes(
            actor_of(request),
            "put_recipient",
            Recipient.objects.filter(mode=mode, user_id=user_id),
            Contact.objects.filter(recipient__mode=mode, recipient__user_id=user_id),
        ):
            recipient, created = address_book.put(
                mode=mode, user_id=user_id, profile=profile, addresses=contacts
            )
        return Response(_recipient(recipient).wire(), status=201 if created else 200)

    @extend_schema(
        operation_id="get_recipient",
        summary="Read a recipient",
        responses={200: RecipientAnswer},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """With every contact, the invalid ones too."""
        return Response(_recipient(_known(request, user_id)).wire())


class Contacts(Door):
    """A recipient's contacts."""

    @extend_schema(
        operation_id="add_contact",
        summary="Add a contact",
        request=ContactRequest,
        responses={201: ContactAnswer},
        tags=["Recipients"],
    )
    @idempotent
    def post(self, request: Request, user_id: str) -> Response:
        """A known address is changed instead of added twice."""
        wanted = shaped(request.data, ContactRequest)
        recipient = _known(request, user_id)
        with audit.changes(actor_of(request), "add_contact", recipient.contacts.all()):
            added = address_book.add(recipient, wanted.as_address())
        contact = suppressions.told(recipient.contacts.all()).get(pk=added.pk)
        return Response(_contact(contact).wire(), status=201)


class OneContact(Door):
    """One contact."""

    @extend_schema(
        operation_id="remove_contact",
        summary="Stop using a contact",
        responses={204: None},
        tags=["Recipients"],
    )
    def delete(self, request: Request, user_id: str, contact_id: int) -> Response:
        """It is kept as invalid, because past deliveries name it."""
        recipient = _known(request, user_id)
        if contact_id > MAX_ID:
            absent("contact")
        with audit.changes(actor_of(request), "remove_contact", recipient.contacts.all()):
            removed = address_book.take_away(recipient, contact_id=contact_id)
        if not removed:
            absent("contact")
        return Response(status=204)


class Preferences(Door):
    """A recipient's wishes."""

    @extend_schema(
        operation_id="get_preferences",
        summary="Read what a recipient allows",
        responses={200: PreferencesAnswer},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Who has said nothing allows everything, in the default order."""
        found = Preference.objects.filter(recipient=_known(request, user_id)).first()
        return Response(PreferencesAnswer.model_validate(found or Preference()).wire())

    @extend_schema(
        operation_id="change_preferences",
        summary="Change what a recipient allows",
        request=PreferencesRequest,
        responses={200: PreferencesAnswer},
        tags=["Recipients"],
    )
    def patch(self, request: Request, user_id: str) -> Response:
        """Counts for what is already queued, too. A channel that is off stops even P0.

        No key switches a category on that the person switched off (`categories_left`).
        """
        wanted = shaped(request.data, PreferencesRequest)
        recipient = _known(request, user_id)
        before = Preference.objects.filter(recipient=recipient)
        try:
            with audit.changes(actor_of(request), "change_preferences", before):
                changed = address_book.prefer(recipient, wanted.changes())
        except address_book.PersonsChoice as error:
            said = str(error)
            refuse(Problem(Kind.CONFLICT, said, (FieldError("/categories_off", said),)))
        return Response(PreferencesAnswer.model_validate(changed).wire())


def _checked(user_id: str) -> str:
    """A user id that can exist."""
    try:
        return _USER_ID.validate_python(user_id)
    except ValidationError:
        absent("recipient")


def _known(request: Request, user_id: str) -> Recipient:
    found = address_book.find(mode=key_of(request).mode, user_id=_checked(user_id))
    if found is None:
        absent("recipient")
    return found


def _recipient(recipient: Recipient) -> RecipientAnswer:
    return RecipientAnswer(
        user_id=recipient.user_id,
        locale=recipient.locale,
        timezone=recipient.timezone,
        contacts=[
            _contact(contact)
            for contact in dead_letters.with_open_letters(
                suppressions.told(recipient.contacts.order_by("pk"))
            )
        ],
    )


def _contact(contact: Contact) -> ContactAnswer:
    return ContactAnswer(
        id=contact.pk,
        channel=Channel(contact.channel),
        kind=contact.kind,
        address=contact.address,
        primary=contact.is_primary,
        valid=contact.invalidated_at is None,
        invalid_reason=contact.invalid_reason,
        suppressed_for=suppressions.causes_of(contact),
        needs_check=bool(getattr(contact, "needs_check", False)),
    )
