"""Each webhook contact is signed with a secret of its own, and a change has an overlap."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet

from notifications.core import clock, conf
from notifications.core.delivery import deliver, routing, webhook_signing
from notifications.core.models import Contact, ProviderRoute
from notifications.core.store.postgres import secret_variables
from providers.contract import Channel
from providers.errors import InvalidSignature
from providers.standard_webhooks import Secret, verify
from tests.journey import Accept, Reach, deliveries_of
from tests.moments import transaction_now
from tests.providers.fakes import HttpFake
from tests.providers.messages import SECRET

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def endpoint(sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpFake]:
    """A receiver's server, where webhooks go by the webhook provider."""
    monkeypatch.setenv("NOTIFY_SANDBOX_URL", sandbox)
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", SECRET)
    monkeypatch.setenv("NOTIFY_WEBHOOK_ALLOW_PRIVATE", "yes")
    routing.forget()
    with closing(HttpFake(key_header="webhook-id")) as it:
        yield it
    routing.forget()


@pytest.fixture
def contacts(reach: Reach, endpoint: HttpFake) -> list[Contact]:
    """Two people whose webhooks the server takes, ann's and ben's."""
    ProviderRoute.objects.create(channel=Channel.WEBHOOK, provider="webhook")
    people = [reach(name, webhook=f"{endpoint.url}/{name}") for name in ("ann", "ben")]
    return [person.contacts.get() for person in people]


def _verifies(endpoint: HttpFake, take: Accept, contact: Contact, secret: Secret | None) -> bool:
    """Whether a secret verifies the next webhook of a contact."""
    assert secret is not None
    raw = {"template_id": None, "content": {"body": "hi"}, "channels": ["webhook"]}
    [row] = deliveries_of(take(user_id=contact.recipient.user_id, variables={}, **raw))
    deliver.deliver([row.id])
    request = endpoint.requests[-1]
    try:
        verify(request.body, headers=request.headers, secrets=[secret], now=clock.now())
    except InvalidSignature:
        return False
    return True


def _changed_ago(contact: Contact, passed: dt.timedelta) -> None:
    Contact.objects.filter(pk=contact.pk).update(secret_changed_at=transaction_now() - passed)


def test_no_receiver_holds_a_secret_that_verifies_another_ones_webhooks(
    endpoint: HttpFake, take: Accept, contacts: list[Contact]
) -> None:
    ann, ben = contacts
    of_ann, of_ben = webhook_signing.rotate(ann.pk), webhook_signing.rotate(ben.pk)
    assert _verifies(endpoint, take, ann, of_ann)
    assert _verifies(endpoint, take, ben, of_ben)
    assert not _verifies(endpoint, take, ben, of_ann)
    assert not _verifies(endpoint, take, ben, Secret.parse(SECRET))


def test_the_secret_before_signs_for_a_week_more(
    endpoint: HttpFake, take: Accept, contacts: list[Contact]
) -> None:
    ann, _ = contacts
    old, new = webhook_signing.rotate(ann.pk), webhook_signing.rotate(ann.pk)
    assert _verifies(endpoint, take, ann, old)
    assert _verifies(endpoint, take, ann, new)
    _changed_ago(ann, webhook_signing.OVERLAP)
    assert not _verifies(endpoint, take, ann, old)
    assert _verifies(endpoint, take, ann, new)


def test_a_receiver_of_before_verifies_with_the_common_secret_until_its_time_is_over(
    endpoint: HttpFake, take: Accept, contacts: list[Contact]
) -> None:
    ann, _ = contacts
    own, soon = webhook_signing.rotate(ann.pk), clock.now() + dt.timedelta(days=1)
    Contact.objects.filter(pk=ann.pk).update(shared_secret_until=soon)
    assert _verifies(endpoint, take, ann, Secret.parse(SECRET))
    assert _verifies(endpoint, take, ann, own)
    Contact.objects.filter(pk=ann.pk).update(shared_secret_until=transaction_now())
    assert not _verifies(endpoint, take, ann, Secret.parse(SECRET))


def test_secrets_hold_while_their_encryption_key_is_configured(
    endpoint: HttpFake, take: Accept, contacts: list[Contact], monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, _ = contacts
    secret, old = webhook_signing.rotate(ann.pk), conf.current().encryption_keys[0]
    settings = replace(conf.current(), encryption_keys=(Fernet.generate_key().decode(), old))
    try:
        monkeypatch.setattr(conf, "current", lambda: settings)
        secret_variables.forget()
        assert _verifies(endpoint, take, ann, secret)
    finally:
        monkeypatch.undo()
        secret_variables.forget()


def test_only_a_webhook_has_a_signing_secret(reach: Reach) -> None:
    mailbox = reach(email="maria@sandbox.example").contacts.get()
    assert webhook_signing.rotate(mailbox.pk) is None
    assert webhook_signing.rotate(0) is None
