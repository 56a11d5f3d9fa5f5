"""Signing secrets of webhook contacts: listed by fingerprint, rotated with an overlap."""

from __future__ import annotations

import datetime as dt
import hashlib

import pytest

from notifications.core import clock
from notifications.core.delivery import webhook_signing
from notifications.core.models import AuditEntry, Contact, Recipient
from notifications.core.rules.lane import Mode
from providers.contract import Channel
from providers.standard_webhooks import Secret
from tests.api.conftest import Caller, MakeCaller


@pytest.fixture
def hook(maria: Recipient) -> Contact:
    return maria.contacts.create(channel=Channel.WEBHOOK, address="https://hooks.example/in")


def _path(contact: Contact) -> str:
    return f"/v1/recipients/maria/contacts/{contact.pk}/signing-secrets"


def test_a_rotated_secret_is_shown_once_and_listed_by_its_fingerprint(
    caller: Caller, hook: Contact
) -> None:
    [first] = caller.get(_path(hook)).json()["secrets"]
    assert (first["current"], first["signs_until"]) == (True, None)
    answer = caller.post(f"{_path(hook)}/rotate", {})
    assert answer.status_code == 201, answer.content
    assert answer["Cache-Control"] == "no-store"
    made = answer.json()
    key = Secret.parse(made["secret"]).key
    hook.refresh_from_db()
    old_and_new = webhook_signing.keys_of(hook.pk, hook, now=clock.now())
    assert key == old_and_new[0]
    assert made["fingerprint"] == hashlib.sha256(key).hexdigest()[:16]
    listed = caller.get(_path(hook))
    new, old = listed.json()["secrets"]
    assert (new["fingerprint"], new["current"], new["signs_until"]) == (
        *(made["fingerprint"], True, None),
    )
    assert (old["fingerprint"], old["current"]) == (first["fingerprint"], False)
    until = dt.datetime.fromisoformat(old["signs_until"])
    assert hook.secret_changed_at is not None
    assert until == hook.secret_changed_at + webhook_signing.OVERLAP
    assert b"whsec_" not in listed.content


def test_a_rotation_in_the_overlap_is_refused_unless_it_is_meant(
    caller: Caller, hook: Contact
) -> None:
    caller.post(f"{_path(hook)}/rotate", {})
    again = caller.post(f"{_path(hook)}/rotate", {})
    assert again.status_code == 409
    assert "end_overlap" in again.json()["detail"]
    hook.refresh_from_db()
    assert hook.secret_version == 2
    assert caller.post(f"{_path(hook)}/rotate", {"end_overlap": True}).status_code == 201
    over = clock.now() - webhook_signing.OVERLAP
    Contact.objects.filter(pk=hook.pk).update(secret_changed_at=over)
    assert len(caller.get(_path(hook)).json()["secrets"]) == 1
    assert caller.post(f"{_path(hook)}/rotate", {}).status_code == 201


def test_a_repeat_with_the_same_key_rotates_once(caller: Caller, hook: Contact) -> None:
    first = caller.post(f"{_path(hook)}/rotate", {}, Idempotency_Key="r-1")
    again = caller.post(f"{_path(hook)}/rotate", {}, Idempotency_Key="r-1")
    assert again.json() == first.json()
    assert again["Idempotent-Replayed"] == "true"
    hook.refresh_from_db()
    assert hook.secret_version == 2


def test_a_rotation_is_in_the_audit_log_without_the_secret(caller: Caller, hook: Contact) -> None:
    secret = caller.post(f"{_path(hook)}/rotate", {}).json()["secret"]
    entry = AuditEntry.objects.get(operation="rotate_signing_secret")
    assert (entry.object_id, entry.before["secret_version"]) == (str(hook.pk), 1)
    assert entry.by == f"producer orders ({caller.key.prefix})"
    assert secret not in f"{entry.before} {entry.after}"
    lines = caller.get("/v1/recipients/maria/changes").json()["results"]
    assert "rotate_signing_secret" in {each["operation"] for each in lines}


def test_nothing_else_has_signing_secrets(
    caller: Caller, make_caller: MakeCaller, hook: Contact, maria: Recipient
) -> None:
    mailbox = maria.contacts.get(channel=Channel.EMAIL)
    tester = make_caller("testers", mode=Mode.TEST)
    Recipient.objects.create(mode=Mode.TEST, user_id="maria")
    for who, contact in ((caller, mailbox), (tester, hook)):
        assert who.get(_path(contact)).status_code == 404
        assert who.post(f"{_path(contact)}/rotate", {}).status_code == 404
    assert caller.get("/v1/recipients/lisa/contacts/1/signing-secrets").status_code == 404
    assert caller.get(f"{_path(hook)[:-16]}{10**30}/signing-secrets").status_code == 404
    hook.refresh_from_db()
    assert hook.secret_version == 1
