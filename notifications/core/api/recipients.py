"""`/v1/recipients`: recipients with contacts, and changes and erasure of recipients.

Recipients are company-wide: a key with the scope sees and changes all recipients, whatever the
producer. Contacts and preferences have separate scopes, because a contact decides where one-time
passwords go.
"""

from __future__ import annotations

from typing import Any, Final

from django.db import transaction
from django.db.models import QuerySet
from pydantic import Field
from rest_framework.response import Response

from notifications.core.api import etags, recipient_attributes
from notifications.core.api.base_view import raise_not_found
from notifications.core.api.contacts import to_contact
from notifications.core.api.examples import ANOTHER_USER, TAG, USER, Example
from notifications.core.api.operation import Access, Answer, Call, operation
from notifications.core.api.pagination import AnyOf, NumberedPageQuery
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipient_access import valid_user_id
from notifications.core.api.recipient_schemas import (
    ChangeLine,
    ContactRequest,
    ErasureJobAnswer,
    RecipientAnswer,
    RecipientChange,
    RecipientLine,
    RecipientRequest,
)
from notifications.core.api.resource import Resource
from notifications.core.intake import contact_changes
from notifications.core.models import AuditEntry, Contact, ErasureJob, Preference, Recipient
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.recipient import fault_of_new_id
from notifications.core.rules.request import UserId
from notifications.core.rules.scopes import Scope
from notifications.core.store.cached import recipient_ids
from notifications.core.store.postgres import audit, dead_letters, erasure, recipients, suppressions
from notifications.core.store.postgres.contact_book import Address

_USER: Final = {"user_id": USER}
_READERS: Final = Access(Scope.RECIPIENTS_READ, BOTH, "view_recipient")
_WRITERS: Final = Access(Scope.RECIPIENTS_WRITE, BOTH, "change_recipient")
_PARTS: Final = {"contacts": Access(Scope.CONTACTS_WRITE, BOTH, "change_contact")}
_BY_THEMSELVES: Final = frozenset({"suppressed_for", "needs_check"})
"""Computed fields of a contact, left out of the ETag."""


class RecipientQuery(NumberedPageQuery):
    """Filters of the list of recipients."""

    user_id: AnyOf[UserId] = Field(default_factory=list)
    """Recipients with any of these user ids."""


def _to_answer(recipient: Recipient) -> RecipientAnswer:
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


def _tag(told: dict[str, Any]) -> str:
    """Return the ETag of the fields which callers can change."""
    contacts = [
        {name: value for name, value in contact.items() if name not in _BY_THEMSELVES}
        for contact in told["contacts"]
    ]
    return etags.tag_of(told | {"contacts": contacts})


def _changes(call: Call) -> QuerySet[AuditEntry]:
    recipient = call.recipient()
    return audit.of_object(recipient, Preference(recipient=recipient), *recipient.contacts.all())


RECIPIENTS: Final = Resource(
    noun="recipient",
    path="v1/recipients/<str:user_id>",
    key="user_id",
    rows=lambda call: Recipient.objects.filter(mode=call.mode),
    answer=RecipientAnswer,
    to_answer=_to_answer,
    tag="Recipients",
    tag_of=_tag,
)
ERASURES: Final = Resource(
    noun="erasure job",
    path="v1/erasure-jobs/<int:job_id>",
    rows=lambda call: ErasureJob.objects.filter(mode=call.mode),
    answer=ErasureJobAnswer,
    tag=RECIPIENTS.tag,
)
CHANGES: Final = Resource(
    noun="change",
    path=f"{RECIPIENTS.path}/changes",
    rows=_changes,
    answer=ChangeLine,
    tag=RECIPIENTS.tag,
)


@RECIPIENTS.list(
    "List recipients, newest first",
    _READERS,
    RecipientQuery,
    line=RecipientLine,
    to_lines=lambda rows: map(RecipientLine.model_validate, rows),
    examples={
        "minimal": Example("The latest recipients"),
        "usual": Example(
            "Two recipients by user id", query={"user_id": [USER, ANOTHER_USER], "limit": 2}
        ),
    },
)
def list_recipients(call: Call, query: RecipientQuery) -> QuerySet[Recipient]:
    """List the recipients of the key's mode, without contacts."""
    found = RECIPIENTS.rows(call)
    return found.filter(user_id__in=query.user_id) if query.user_id else found


@operation(
    f"PUT {RECIPIENTS.path}",
    "Create or replace a recipient",
    _WRITERS,
    RecipientRequest,
    answers={200: RecipientAnswer, 201: RecipientAnswer},
    tag=RECIPIENTS.tag,
    parameters=[etags.IF_MATCH, etags.IF_NONE_MATCH],
    parts=_PARTS,
    examples={
        "minimal": Example(
            "A person without contacts", status=201, path={"user_id": "u_1"}, body={}
        ),
        "usual": Example(
            "A person with phone and e-mail",
            status=201,
            path={"user_id": "u_2"},
            headers={"If-None-Match": "*"},
            body={
                "locale": "pt-BR",
                "timezone": "America/Sao_Paulo",
                "contacts": [
                    {"channel": "sms", "address": "+5511912345678", "primary": True},
                    {"channel": "email", "address": "joana@sandbox.example"},
                    {"channel": "push", "kind": "fcm_token", "address": "joana-android"},
                ],
            },
        ),
    },
)
def put_recipient(call: Call, wanted: RecipientRequest) -> Answer:
    """Create a recipient, or replace locale, timezone, attributes and contacts.

    An omitted locale or timezone is reset to the default; omitted `attributes` and `contacts`
    stay. An address reported as invalid by a provider stays invalid.
    """
    attributes = recipient_attributes.check(wanted.attributes)
    user_id = valid_user_id(call.path["user_id"])
    recipient = RECIPIENTS.rows(call).filter(user_id=user_id)
    if (fault := fault_of_new_id(user_id)) and not recipient.exists():
        raise_problem(Problem(Kind.INVALID, fault))
    with transaction.atomic():
        RECIPIENTS.check_tag(call)
        with (
            call.changes(recipient, Contact.objects.filter(recipient__in=recipient)),
            contact_changes.watch(call.mode, user_id, by=call.by) as change,
        ):
            row, created = recipients.upsert(
                mode=call.mode,
                user_id=user_id,
                profile=wanted.profile(),
                addresses=_addresses(wanted.contacts),
                change=change,
                attributes=attributes,
            )
    return RECIPIENTS.respond(call, row, status=201 if created else 200)


@RECIPIENTS.change(
    "PATCH",
    "Change a recipient",
    _WRITERS,
    RecipientChange,
    parts=_PARTS,
    problems={Kind.CONFLICT},
    examples={
        "minimal": Example("Another locale", path=_USER, body={"locale": "de"}),
        "usual": Example(
            "Another timezone and a further contact, unless the recipient has changed",
            path=_USER,
            headers={"If-Match": TAG},
            body={
                "timezone": "Europe/Berlin",
                "contacts": [{"channel": "email", "address": "maria@work.example"}],
            },
        ),
    },
)
def change_recipient(call: Call, recipient: Recipient, wanted: RecipientChange) -> None:
    """Change the given fields; omitted fields stay.

    Contacts are added, or changed if the address is known.
    """
    attributes = recipient_attributes.check(wanted.attributes)
    with (
        call.changes(recipient.contacts.all()),
        contact_changes.watch(call.mode, recipient.user_id, by=call.by) as change,
    ):
        recipients.merge(
            recipient,
            profile=wanted.profile(),
            addresses=_addresses(wanted.contacts) or (),
            change=change,
            attributes=attributes,
        )


@RECIPIENTS.read(
    "Read a recipient",
    _READERS,
    examples={
        "minimal": Example("A recipient with contacts", path=_USER),
        "usual": Example(
            "Only if the recipient has changed",
            status=304,
            path=_USER,
            headers={"If-None-Match": TAG},
        ),
    },
)
def get_recipient(_call: Call, recipient: Recipient) -> Recipient:
    """Return a recipient with all contacts, invalid contacts included."""
    return recipient


@operation(
    f"DELETE {RECIPIENTS.path}",
    "Erase a recipient and the recipient's notifications",
    Access(Scope.ERASURES_WRITE),
    answers={202: ErasureJobAnswer},
    tag=RECIPIENTS.tag,
    parameters=[etags.IF_MATCH],
    examples={
        "minimal": Example("Erase a recipient", path=_USER),
        "usual": Example(
            "Erase a recipient, unless the recipient has changed",
            path=_USER,
            headers={"If-Match": TAG},
        ),
    },
)
def erase_recipient(call: Call) -> Response:
    """Delete the recipient, contacts and preferences at once; a job removes the notifications.

    Waiting deliveries are not sent. Entries of the suppression list stay.
    """
    user_id = valid_user_id(call.path["user_id"])
    with transaction.atomic():
        RECIPIENTS.check_tag(call)
        with call.changes() as made:
            job = erasure.begin(
                mode=call.mode, user_id=user_id, requested_by=call.key.prefix, by=call.by
            )
            made.extend([job] if job else [])
    if job is None:
        raise_not_found(RECIPIENTS.noun)
    recipient_ids.drop([job.recipient_id])  # other processes follow the revocation of tokens
    headers = {"Location": f"/v1/erasure-jobs/{job.pk}"}
    return Response(ErasureJobAnswer.model_validate(job).to_json(), status=202, headers=headers)


@ERASURES.read(
    "Read an erasure job",
    Access(Scope.ERASURES_READ),
    examples={
        "minimal": Example("A running job", path={"job_id": 31}),
        "finished": Example("A finished job", path={"job_id": 32}),
    },
)
def get_erasure_job(_call: Call, job: ErasureJob) -> ErasureJob:
    """Return the progress of an erasure job. The job is done when `receipt` is set."""
    return job


@CHANGES.list(
    "List changes of a recipient, newest first",
    Access(Scope.RECIPIENTS_READ, BOTH, "view_auditentry"),
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest changes", path=_USER),
        "usual": Example(
            "Ten changes after a cursor", path=_USER, query={"limit": 10, "cursor": 4711}
        ),
    },
)
def list_recipient_changes(call: Call, _query: NumberedPageQuery) -> QuerySet[AuditEntry]:
    """List the changes by API keys and operators, with previous and new values."""
    return CHANGES.rows(call)


def _addresses(given: list[ContactRequest] | None) -> list[Address] | None:
    return None if given is None else [one.as_address() for one in given]
