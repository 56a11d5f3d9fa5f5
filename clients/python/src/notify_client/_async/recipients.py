"""Recipients, their contacts and preferences, and the suppression list."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._answer import Tagged
from notify_client._async.engine import AsyncEngine, AsyncPages
from notify_client.types import (
    ChangeLine,
    ContactAnswer,
    ContactRequest,
    ErasureJobAnswer,
    ListRecipientChangesQuery,
    ListRecipientsQuery,
    ListSuppressionsQuery,
    PreferencesAnswer,
    PreferencesReplacement,
    PreferencesRequest,
    RecipientAnswer,
    RecipientChange,
    RecipientLine,
    RecipientRequest,
    SecretRotated,
    SecretRotation,
    SigningSecrets,
    SuppressionAnswer,
    SuppressionRequest,
    SuppressionsImported,
)


class AsyncRecipients:
    """`/v1/recipients`."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.recipients`."""
        self._engine = engine

    def list(self, **query: Unpack[ListRecipientsQuery]) -> AsyncPages[RecipientLine]:
        """Recipients, without their contacts."""
        return AsyncPages(self._engine, _call.path("recipients"), {**query})

    async def get(self, user_id: str) -> RecipientAnswer:
        """A recipient with their contacts."""
        return await self._engine.value(_call.get(_call.path("recipients", user_id)))

    async def get_tagged(
        self, user_id: str, *, if_none_match: str | None = None
    ) -> Tagged[RecipientAnswer] | None:
        """A recipient with the ETag; None: it is the one that was given."""
        target = _call.path("recipients", user_id)
        return await self._engine.tagged(_call.get(target, if_none_match=if_none_match))

    async def put(
        self,
        user_id: str,
        *,
        if_match: str | None = None,
        only_create: bool = False,
        **recipient: Unpack[RecipientRequest],
    ) -> RecipientAnswer:
        """Make or replace a recipient; contacts that are left out stay.

        Args:
            user_id: your name of the person, 1 to 128 characters.
            if_match: replace only what has this ETag.
            only_create: refuse (`PreconditionFailed`) when the recipient exists.
            recipient: locale, timezone and contacts.
        """
        unwanted = "*" if only_create else None
        target = _call.path("recipients", user_id)
        call = _call.write("PUT", target, recipient, if_match=if_match, if_none_match=unwanted)
        return await self._engine.value(call)

    async def change(
        self, user_id: str, *, if_match: str | None = None, **change: Unpack[RecipientChange]
    ) -> RecipientAnswer:
        """Change the fields that are given; contacts are added to those that are known."""
        target = _call.path("recipients", user_id)
        return await self._engine.value(_call.write("PATCH", target, change, if_match=if_match))

    async def erase(self, user_id: str, *, if_match: str | None = None) -> ErasureJobAnswer:
        """Erase a person; the job goes on to erase what was sent to them."""
        target = _call.path("recipients", user_id)
        return await self._engine.value(_call.write("DELETE", target, if_match=if_match))

    async def erasure_job(self, job_id: int) -> ErasureJobAnswer:
        """How far an erasure is."""
        return await self._engine.value(_call.get(_call.path("erasure-jobs", job_id)))

    def changes(
        self, user_id: str, **query: Unpack[ListRecipientChangesQuery]
    ) -> AsyncPages[ChangeLine]:
        """Who changed what of a recipient, newest first."""
        return AsyncPages(self._engine, _call.path("recipients", user_id, "changes"), {**query})

    async def add_contact(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
        **contact: Unpack[ContactRequest],
    ) -> ContactAnswer:
        """Add an address."""
        target = _call.path("recipients", user_id, "contacts")
        call = _call.post(target, contact, idempotency_key=idempotency_key)
        return await self._engine.value(call)

    async def remove_contact(self, user_id: str, contact_id: int) -> None:
        """Remove an address."""
        target = _call.path("recipients", user_id, "contacts", contact_id)
        await self._engine.nothing(_call.write("DELETE", target))

    async def signing_secrets(self, user_id: str, contact_id: int) -> SigningSecrets:
        """What signs the webhooks of a contact, as fingerprints."""
        target = _call.path("recipients", user_id, "contacts", contact_id, "signing-secrets")
        return await self._engine.value(_call.get(target))

    async def rotate_signing_secret(
        self,
        user_id: str,
        contact_id: int,
        *,
        idempotency_key: str | None = None,
        **rotation: Unpack[SecretRotation],
    ) -> SecretRotated:
        """A new secret for a webhook contact, shown once; the one before signs for a while."""
        parts = ("recipients", user_id, "contacts", contact_id, "signing-secrets", "rotate")
        call = _call.post(_call.path(*parts), rotation, idempotency_key=idempotency_key)
        return await self._engine.value(call, has="secret")

    async def preferences(self, user_id: str) -> PreferencesAnswer:
        """What a person allows."""
        target = _call.path("recipients", user_id, "preferences")
        return await self._engine.value(_call.get(target))

    async def preferences_tagged(
        self, user_id: str, *, if_none_match: str | None = None
    ) -> Tagged[PreferencesAnswer] | None:
        """What a person allows, with the ETag; None: it is the one that was given."""
        target = _call.path("recipients", user_id, "preferences")
        return await self._engine.tagged(_call.get(target, if_none_match=if_none_match))

    async def put_preferences(
        self,
        user_id: str,
        *,
        if_match: str | None = None,
        **preferences: Unpack[PreferencesReplacement],
    ) -> PreferencesAnswer:
        """Replace what a person allows; what is left out is as if they had said nothing."""
        target = _call.path("recipients", user_id, "preferences")
        call = _call.write("PUT", target, preferences, if_match=if_match)
        return await self._engine.value(call)

    async def change_preferences(
        self, user_id: str, *, if_match: str | None = None, **change: Unpack[PreferencesRequest]
    ) -> PreferencesAnswer:
        """Change the preferences that are given."""
        target = _call.path("recipients", user_id, "preferences")
        return await self._engine.value(_call.write("PATCH", target, change, if_match=if_match))


class AsyncSuppressions:
    """`/v1/suppressions`: addresses to which nothing is sent."""

    def __init__(self, engine: AsyncEngine) -> None:
        """See `AsyncClient.suppressions`."""
        self._engine = engine

    def list(self, **query: Unpack[ListSuppressionsQuery]) -> AsyncPages[SuppressionAnswer]:
        """Entries, newest first."""
        return AsyncPages(self._engine, _call.path("suppressions"), {**query})

    async def export_csv(self, **query: Unpack[ListSuppressionsQuery]) -> str:
        """All entries that match as one CSV text, whatever `limit` and `cursor` say."""
        call = _call.get(_call.path("suppressions"), query, accept=_call.CSV)
        answer = await self._engine.answer(call)
        if not answer.headers.get("content-type", "").startswith(_call.CSV):
            answer.refuse("the answer is no CSV: check the base URL", call)
        return answer.body.decode()

    async def add(
        self, *, idempotency_key: str | None = None, **entry: Unpack[SuppressionRequest]
    ) -> SuppressionAnswer:
        """Suppress an address; the entry is the answer also when it was there."""
        call = _call.post(_call.path("suppressions"), entry, idempotency_key=idempotency_key)
        return await self._engine.value(call)

    async def import_csv(
        self, file: bytes, *, idempotency_key: str | None = None
    ) -> SuppressionsImported:
        """Suppress the addresses of a CSV file; the answer names the lines that were refused."""
        call = _call.post(_call.path("suppressions"), file, idempotency_key=idempotency_key)
        return await self._engine.value(call)

    async def get(self, suppression_id: int) -> SuppressionAnswer:
        """An entry."""
        return await self._engine.value(_call.get(_call.path("suppressions", suppression_id)))

    async def undo(self, suppression_id: int, *, note: str | None = None) -> None:
        """Take an entry back."""
        target = _call.path("suppressions", suppression_id)
        query = _call.query({"note": note})
        await self._engine.nothing(_call.write("DELETE", target + query))
