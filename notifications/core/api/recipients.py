"""`/v1/recipients`: recipients with contacts, and changes and erasure of recipients.

Recipients are company-wide: a key with the scope sees and changes all recipients, whatever the
producer. Contacts and preferences have separate scopes, because a contact decides where one-time
passwords go.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final

from django.db import transaction
from drf_spectacular.utils import extend_schema
from pydantic import Field, TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import etags, recipient_attributes, schema
from notifications.core.api.authentication import actor_of, key_of, permit
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.pagination import AnyOf, NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_schemas import (
    ChangeLine,
    ContactAnswer,
    ContactRequest,
    ErasureJobAnswer,
    RecipientAnswer,
    RecipientChange,
    RecipientLine,
    RecipientRequest,
)
from notifications.core.intake import contact_changes
from notifications.core.models import AuditEntry, Contact, ErasureJob, Preference, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.request import UserId
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import audit, dead_letters, erasure, recipients, suppressions
from notifications.core.store.postgres.recipients import Address, ContactChange
from providers.contract import Channel

_USER_ID: Final = TypeAdapter(UserId)


_BY_THEMSELVES: Final = frozenset({"suppressed_for", "needs_check"})
"""Computed fields of a contact, left out of the ETag."""


class RecipientQuery(NumberedPageQuery):
    """Filters of the list of recipients."""

    user_id: AnyOf[UserId] = Field(default_factory=list)
    """Recipients with any of these user ids."""


class RecipientListView(BaseView):
    """`/v1/recipients`: list recipients."""

    @extend_schema(
        operation_id="list_recipients",
        summary="List recipients, newest first",
        parameters=schema.parameters(RecipientQuery),
        responses={200: schema.page_of(RecipientLine)},
        tags=["Recipients"],
    )
    def get(self, request: Request) -> Response:
        """List the recipients of the key's mode, without contacts."""
        query = parse_query(request, RecipientQuery)
        found = Recipient.objects.filter(mode=key_of(request).mode)
        if query.user_id:
            found = found.filter(user_id__in=query.user_id)
        return newest_page(request, query, found, _to_line)


def _to_line(recipient: Recipient) -> dict[str, Any]:
    return RecipientLine.model_validate(recipient).to_json()


class RecipientDetailView(BaseView):
    """`/v1/recipients/{user_id}`: create, read, change and erase a recipient."""

    @extend_schema(
        operation_id="put_recipient",
        summary="Create or replace a recipient",
        parameters=[etags.IF_MATCH, etags.IF_NONE_MATCH],
        request=RecipientRequest,
        responses={200: RecipientAnswer, 201: RecipientAnswer},
        tags=["Recipients"],
    )
    def put(self, request: Request, user_id: str) -> Response:
        """Create a recipient, or replace locale, timezone, attributes and contacts.

        An omitted locale or timezone is reset to the default; omitted `attributes` and `contacts`
        stay. An address reported as invalid by a provider stays invalid.
        """
        wanted = parse_body(request.data, RecipientRequest)
        attributes = recipient_attributes.check(wanted.attributes)
        contacts = _addresses(request, wanted.contacts)
        mode, user_id = key_of(request).mode, valid_user_id(user_id)
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(request, user_id))
            with _changes(request, "put_recipient", user_id), _by(request, user_id) as change:
                recipient, created = recipients.upsert(
                    mode=mode,
                    user_id=user_id,
                    profile=wanted.profile(),
                    addresses=contacts,
                    change=change,
                    attributes=attributes,
                )
        return _to_response(request, recipient, status=201 if created else 200)

    @extend_schema(
        operation_id="change_recipient",
        summary="Change a recipient",
        parameters=[etags.IF_MATCH],
        request=RecipientChange,
        responses={200: RecipientAnswer},
        tags=["Recipients"],
    )
    def patch(self, request: Request, user_id: str) -> Response:
        """Change the given fields; omitted fields stay.

        Contacts are added, or changed if the address is known.
        """
        wanted = parse_body(request.data, RecipientChange)
        attributes = recipient_attributes.check(wanted.attributes)
        contacts = _addresses(request, wanted.contacts)
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(request, user_id))
            with _changes(request, "change_recipient", user_id), _by(request, user_id) as change:
                recipient = recipients.merge(
                    get_recipient(request, user_id),
                    profile=wanted.profile(),
                    addresses=contacts or (),
                    change=change,
                    attributes=attributes,
                )
        return _to_response(request, recipient)

    @extend_schema(
        operation_id="get_recipient",
        summary="Read a recipient",
        parameters=[etags.IF_NONE_MATCH],
        responses={200: RecipientAnswer, 304: None},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Return a recipient with all contacts, invalid contacts included."""
        return _to_response(request, get_recipient(request, user_id))

    @extend_schema(
        operation_id="erase_recipient",
        summary="Erase a recipient and the recipient's notifications",
        parameters=[etags.IF_MATCH],
        responses={202: ErasureJobAnswer},
        tags=["Recipients"],
    )
    def delete(self, request: Request, user_id: str) -> Response:
        """Delete the recipient, contacts and preferences at once; a job removes the notifications.

        Waiting deliveries are not sent. Entries of the suppression list stay.
        """
        with transaction.atomic():
            etags.check(request, lambda: _current_tag(request, user_id))
            key, by = key_of(request), actor_of(request)
            erased = valid_user_id(user_id)
            with audit.changes(by, "erase_recipient") as made:
                job = erasure.begin(mode=key.mode, user_id=erased, requested_by=key.prefix, by=by)
                made.extend([job] if job else [])
        if job is None:
            raise_not_found("recipient")
        recipient_ids.drop([job.recipient_id])  # other processes follow the revocation of tokens
        headers = {"Location": f"/v1/erasure-jobs/{job.pk}"}
        return Response(ErasureJobAnswer.model_validate(job).to_json(), status=202, headers=headers)


class ErasureJobDetailView(BaseView):
    """`/v1/erasure-jobs/{job_id}`: read an erasure job."""

    @extend_schema(
        operation_id="get_erasure_job",
        summary="Read an erasure job",
        responses={200: ErasureJobAnswer},
        tags=["Recipients"],
    )
    def get(self, request: Request, job_id: int) -> Response:
        """Return the progress of an erasure job. The job is done when `receipt` is set."""
        mine = ErasureJob.objects.filter(pk=min(job_id, MAX_ID), mode=key_of(request).mode)
        job = mine.first()
        if job is None:
            raise_not_found("erasure job")
        return Response(ErasureJobAnswer.model_validate(job).to_json())


class RecipientChangeListView(BaseView):
    """`/v1/recipients/{user_id}/changes`: list changes of a recipient."""

    @extend_schema(
        operation_id="list_recipient_changes",
        summary="List changes of a recipient, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(ChangeLine)},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """List the changes by API keys and operators, with previous and new values."""
        query, recipient = parse_query(request, NumberedPageQuery), get_recipient(request, user_id)
        preferences = Preference(recipient=recipient)
        found = audit.of_object(recipient, preferences, *recipient.contacts.all())
        return newest_page(request, query, found, _to_change)


def _to_change(entry: AuditEntry) -> dict[str, Any]:
    return ChangeLine.model_validate(entry).to_json()


def _by(request: Request, user_id: str) -> AbstractContextManager[ContactChange]:
    return contact_change(key_of(request).mode, user_id, by=actor_of(request))


@contextmanager
def contact_change(mode: Mode, user_id: str, *, by: str) -> Iterator[ContactChange]:
    """Limit the rate of a recipient's contact changes; yield the actor for the audit columns.

    Raises:
        ProblemError: the contacts changed too often (429).
    """
    try:
        with contact_changes.watch(mode, user_id) as losing:
            yield ContactChange(by=by, losing=losing)
    except contact_changes.TooManyChanges as error:
        raise_problem(error.problem)


def _changes(request: Request, operation: str, user_id: str) -> AbstractContextManager[object]:
    """Audit the changes of a recipient and contacts."""
    mode = key_of(request).mode
    return audit.changes(
        actor_of(request),
        operation,
        Recipient.objects.filter(mode=mode, user_id=user_id),
        Contact.objects.filter(recipient__mode=mode, recipient__user_id=user_id),
    )


def _addresses(request: Request, given: list[ContactRequest] | None) -> list[Address] | None:
    """Return the contacts of a body, which need a separate scope; None without contacts.

    Raises:
        ProblemError: the key lacks the scope (403).
    """
    if given is None:
        return None
    permit(request, part="contacts")
    return [one.as_address() for one in given]


def valid_user_id(user_id: str) -> str:
    """Return a valid user id.

    Raises:
        ProblemError: the user id is malformed, so no recipient can have the id (404).
    """
    try:
        return _USER_ID.validate_python(user_id)
    except ValidationError:
        raise_not_found("recipient")


def get_recipient(request: Request, user_id: str) -> Recipient:
    """Return a recipient of the key's mode.

    Raises:
        ProblemError: the recipient does not exist (404).
    """
    found = recipients.find(mode=key_of(request).mode, user_id=valid_user_id(user_id))
    if found is None:
        raise_not_found("recipient")
    return found


def _to_response(request: Request, recipient: Recipient, *, status: int = 200) -> Response:
    told = _recipient(recipient).to_json()
    return etags.etag_response(request, told, _tag(told), status=status)


def _tag(told: dict[str, Any]) -> str:
    """Return the ETag of the fields which callers can change."""
    contacts = [
        {name: value for name, value in contact.items() if name not in _BY_THEMSELVES}
        for contact in told["contacts"]
    ]
    return etags.tag_of(told | {"contacts": contacts})


def _current_tag(request: Request, user_id: str) -> str | None:
    found = recipients.lock(mode=key_of(request).mode, user_id=valid_user_id(user_id))
    return None if found is None else _tag(_recipient(found).to_json())


def _recipient(recipient: Recipient) -> RecipientAnswer:
    return RecipientAnswer(
        user_id=recipient.user_id,
        locale=recipient.locale,
        timezone=recipient.timezone,
        attributes=recipient.attributes,
        contacts=[
            to_contact(contact)
            for contact in dead_letters.with_open_dead_letters(
                suppressions.with_causes(recipient.contacts.order_by("pk"))
            )
        ],
    )


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
