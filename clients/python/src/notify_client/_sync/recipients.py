"""Recipients, contacts, preferences and the suppression list."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._answer import Tagged
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    ChangeLine,
    ClientTokenIssued,
    ClientTokenRequest,
    ContactAnswer,
    ContactRequest,
    ErasureJobAnswer,
    ListRecipientsQuery,
    ListSuppressionsQuery,
    PageQuery,
    PreferencesAnswer,
    PreferencesReplacement,
    PreferencesRequest,
    RecipientAnswer,
    RecipientChange,
    RecipientLine,
    RecipientRequest,
    RecipientsImported,
    RecipientTopics,
    SecretRotated,
    SecretRotation,
    SigningSecrets,
    SuppressionAnswer,
    SuppressionRequest,
    SuppressionsImported,
    WebPushKey,
)


class Recipients:
    """`/v1/recipients`."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.recipients`."""
        self._engine = engine

    def list(self, **query: Unpack[ListRecipientsQuery]) -> Pages[RecipientLine]:
        """List recipients without contacts."""
        return Pages(self._engine, _call.path("recipients"), {**query})

    def import_csv(
        self, file: bytes, *, dry_run: bool = False, partial: bool = False
    ) -> RecipientsImported:
        """Import up to 2,000 recipients from CSV; safe to repeat.

        Args:
            file: the bytes of the file, whose first line names the columns.
            dry_run: report, and change nothing.
            partial: import the other lines although a line has a fault.
        """
        given = {"dry_run": dry_run or None, "partial": partial or None}
        target = _call.path("recipient-imports") + _call.query(given)
        return self._engine.value(_call.file(target, file, media_type=_call.CSV), has="imported")

    def get(self, user_id: str) -> RecipientAnswer:
        """Return a recipient with contacts."""
        return self._engine.value(_call.get(_call.path("recipients", user_id)), has="user_id")

    def get_tagged(
        self, user_id: str, *, if_none_match: str | None = None
    ) -> Tagged[RecipientAnswer] | None:
        """Return a recipient and the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("recipients", user_id)
        return self._engine.read_tagged(
            _call.get(target, if_none_match=if_none_match), has="user_id"
        )

    def put(
        self,
        user_id: str,
        *,
        if_match: str | None = None,
        only_create: bool = False,
        **recipient: Unpack[RecipientRequest],
    ) -> RecipientAnswer:
        """Create or replace a recipient; contacts absent from the request stay.

        Args:
            user_id: the producer's id of the recipient, 1 to 128 characters.
            if_match: replace only a recipient with this ETag.
            only_create: raise `PreconditionFailed` if the recipient exists.
            recipient: locale, timezone and contacts.
        """
        unwanted = "*" if only_create else None
        target = _call.path("recipients", user_id)
        call = _call.write("PUT", target, recipient, if_match=if_match, if_none_match=unwanted)
        return self._engine.value(call, has="user_id")

    def change(
        self, user_id: str, *, if_match: str | None = None, **change: Unpack[RecipientChange]
    ) -> RecipientAnswer:
        """Change the given fields; given contacts are added."""
        target = _call.path("recipients", user_id)
        return self._engine.value(
            _call.write("PATCH", target, change, if_match=if_match), has="user_id"
        )

    def erase(self, user_id: str, *, if_match: str | None = None) -> ErasureJobAnswer:
        """Erase a recipient; the job also erases the recipient's notifications."""
        target = _call.path("recipients", user_id)
        return self._engine.value(_call.write("DELETE", target, if_match=if_match), has="id")

    def erasure_job(self, job_id: int) -> ErasureJobAnswer:
        """Return the progress of an erasure job."""
        return self._engine.value(_call.get(_call.path("erasure-jobs", job_id)), has="id")

    def changes(self, user_id: str, **query: Unpack[PageQuery]) -> Pages[ChangeLine]:
        """List changes of a recipient with the authors, newest first."""
        return Pages(self._engine, _call.path("recipients", user_id, "changes"), {**query})

    def topics(self, user_id: str) -> RecipientTopics:
        """Return the names of the recipient's topics."""
        return self._engine.value(
            _call.get(_call.path("recipients", user_id, "topics")), has="topics"
        )

    def add_contact(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
        **contact: Unpack[ContactRequest],
    ) -> ContactAnswer:
        """Add an address."""
        target = _call.path("recipients", user_id, "contacts")
        call = _call.post(target, contact, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def remove_contact(self, user_id: str, contact_id: int) -> None:
        """Remove an address."""
        target = _call.path("recipients", user_id, "contacts", contact_id)
        self._engine.nothing(_call.write("DELETE", target))

    def signing_secrets(self, user_id: str, contact_id: int) -> SigningSecrets:
        """Return fingerprints of the signing secrets of a webhook contact."""
        target = _call.path("recipients", user_id, "contacts", contact_id, "signing-secrets")
        return self._engine.value(_call.get(target), has="secrets")

    def rotate_signing_secret(
        self,
        user_id: str,
        contact_id: int,
        *,
        idempotency_key: str | None = None,
        **rotation: Unpack[SecretRotation],
    ) -> SecretRotated:
        """Create a signing secret, shown once; the former secret signs too during the overlap."""
        parts = ("recipients", user_id, "contacts", contact_id, "signing-secrets", "rotate")
        call = _call.post(_call.path(*parts), rotation, idempotency_key=idempotency_key)
        return self._engine.value(call, has="secret")

    def client_token(
        self, user_id: str, **options: Unpack[ClientTokenRequest]
    ) -> ClientTokenIssued:
        """Issue a token with which the recipient's app or browser calls the service."""
        target = _call.path("recipients", user_id, "client-tokens")
        return self._engine.value(_call.post(target, options), has="token")

    def web_push_key(self) -> str | None:
        """Return the VAPID public key of the service; None without web push."""
        answer: WebPushKey = self._engine.value(
            _call.get(_call.path("push", "web", "key")), has="public_key"
        )
        return answer["public_key"]

    def revoke_client_tokens(self, user_id: str) -> None:
        """Revoke all tokens of the recipient that were issued until now."""
        target = _call.path("recipients", user_id, "client-tokens")
        self._engine.nothing(_call.write("DELETE", target))

    def preferences(self, user_id: str, *, language: str | None = None) -> PreferencesAnswer:
        """Return the preferences of a recipient, with names in `language`."""
        target = _call.path("recipients", user_id, "preferences")
        query = {"language": language} if language else {}
        return self._engine.value(_call.get(target, query), has="channels_off")

    def preferences_tagged(
        self, user_id: str, *, if_none_match: str | None = None
    ) -> Tagged[PreferencesAnswer] | None:
        """Return preferences with the ETag; None if the ETag is still `if_none_match`."""
        target = _call.path("recipients", user_id, "preferences")
        return self._engine.read_tagged(
            _call.get(target, if_none_match=if_none_match), has="channels_off"
        )

    def put_preferences(
        self,
        user_id: str,
        *,
        if_match: str | None = None,
        **preferences: Unpack[PreferencesReplacement],
    ) -> PreferencesAnswer:
        """Replace the preferences; fields absent from the request get their defaults."""
        target = _call.path("recipients", user_id, "preferences")
        call = _call.write("PUT", target, preferences, if_match=if_match)
        return self._engine.value(call, has="channels_off")

    def change_preferences(
        self, user_id: str, *, if_match: str | None = None, **change: Unpack[PreferencesRequest]
    ) -> PreferencesAnswer:
        """Change the given preferences."""
        target = _call.path("recipients", user_id, "preferences")
        return self._engine.value(
            _call.write("PATCH", target, change, if_match=if_match), has="channels_off"
        )


class Suppressions:
    """`/v1/suppressions`: suppressed addresses."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.suppressions`."""
        self._engine = engine

    def list(self, **query: Unpack[ListSuppressionsQuery]) -> Pages[SuppressionAnswer]:
        """List entries, newest first."""
        return Pages(self._engine, _call.path("suppressions"), {**query})

    def export_csv(self, **query: Unpack[ListSuppressionsQuery]) -> str:
        """Return all matching entries as one CSV text; `limit` and `cursor` have no effect."""
        call = _call.get(_call.path("suppressions"), query, accept=_call.CSV)
        answer = self._engine.answer(call)
        if not answer.headers.get("content-type", "").startswith(_call.CSV):
            answer.refuse("the answer is not a CSV file; check the base URL", call)
        return answer.body.decode()

    def add(
        self, *, idempotency_key: str | None = None, **entry: Unpack[SuppressionRequest]
    ) -> SuppressionAnswer:
        """Suppress an address; returns the new or existing entry."""
        call = _call.post(_call.path("suppressions"), entry, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def import_csv(
        self, file: bytes, *, idempotency_key: str | None = None
    ) -> SuppressionsImported:
        """Suppress the addresses of a CSV file; the answer lists refused lines."""
        call = _call.post(_call.path("suppressions"), file, idempotency_key=idempotency_key)
        return self._engine.value(call, has="added")

    def get(self, suppression_id: int) -> SuppressionAnswer:
        """An entry."""
        return self._engine.value(_call.get(_call.path("suppressions", suppression_id)), has="id")

    def undo(self, suppression_id: int, *, note: str | None = None) -> None:
        """Remove an entry."""
        target = _call.path("suppressions", suppression_id)
        query = _call.query({"note": note})
        self._engine.nothing(_call.write("DELETE", target + query))
