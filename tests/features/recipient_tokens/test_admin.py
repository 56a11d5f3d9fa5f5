"""An owner creates, rotates and revokes token secrets; a secret is shown once."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from notifications.core.models import AuditEntry, Producer, Recipient, TokenRevocation, TokenSecret
from notifications.core.rules.lane import Mode
from notifications.core.store.recipient_tokens import token_secrets

pytestmark = pytest.mark.django_db
LIST = "/admin/notifications/tokensecret/"
SECRET = re.compile(r"nts_live_[a-z0-9]{8}_[0-9a-f]{64}")


@pytest.fixture
def owner(operator: User) -> Client:
    client = Client()
    client.force_login(operator)
    return client


@pytest.fixture
def shop() -> Producer:
    return Producer.objects.create(name="shop")


def test_a_new_secret_is_shown_once(owner: Client, shop: Producer) -> None:
    form = {"producer": shop.pk, "mode": int(Mode.LIVE), "scopes": ["inbox:read"], "note": "web"}
    answer = owner.post(f"{LIST}add/", form)
    assert "no-store" in answer.headers["Cache-Control"]
    [secret] = SECRET.findall(answer.content.decode())
    row = TokenSecret.objects.get()
    assert (row.scopes, row.note, row.created_by) == (["inbox:read"], "web", "operator")
    assert token_secrets.text_of(row) == secret
    for path in (LIST, f"{LIST}{row.pk}/change/"):
        assert secret not in owner.get(path).content.decode()
    entries = AuditEntry.objects.filter(object_type="tokensecret")
    assert entries.exists()
    assert not [each for each in entries if secret in str(each.after)]


def test_a_rotation_shows_the_new_secret_and_a_revocation_ends_it(
    owner: Client, shop: Producer
) -> None:
    old, _ = token_secrets.create(shop, mode=Mode.LIVE)
    assert "expires" in owner.get(f"{LIST}{old.pk}/rotate/").content.decode()
    shown = owner.post(f"{LIST}{old.pk}/rotate/", {"hours": "1"}).content.decode()
    new = TokenSecret.objects.get(replaces=old)
    assert SECRET.findall(shown) == [token_secrets.text_of(new)]
    again = owner.post(f"{LIST}{old.pk}/rotate/", {"hours": "1"}, follow=True)
    assert "rotated before" in again.content.decode()
    owner.post(LIST, {"action": "revoke", "_selected_action": [new.pk]})
    new.refresh_from_db()
    assert (new.revoked_at is not None, new.revoked_by) == (True, "operator")
    operations = AuditEntry.objects.values_list("operation", flat=True)
    assert {"rotate_token_secret", "revoke_token_secret"} <= set(operations)


def test_origins_of_a_producer_are_normalized_and_faults_are_explained(
    owner: Client, shop: Producer
) -> None:
    path = f"/admin/notifications/producer/{shop.pk}/change/"
    page = owner.get(path)
    form = {name: value for name, value in page.context["adminform"].form.initial.items() if value}
    form |= {"name": "shop", "is_active": "on", "rate_per_second": 1, "rate_burst": 1}
    form["allowed_origins"] = "https://Shop.example:443\n\nhttp://localhost:3000\n"
    assert owner.post(path, form).status_code == 302
    shop.refresh_from_db()
    assert shop.allowed_origins == ["https://shop.example", "http://localhost:3000"]
    for wrong, said in (("https://shop.example/a", "is no origin"), ("*\nhttps://a.b", "alone")):
        answer = owner.post(path, form | {"allowed_origins": wrong})
        assert said in answer.content.decode()


def test_tokens_of_a_recipient_are_revoked(owner: Client) -> None:
    ana = Recipient.objects.create(mode=Mode.LIVE, user_id="ana")
    form = {"action": "revoke_tokens", "_selected_action": [ana.pk]}
    answer = owner.post("/admin/notifications/recipient/", form, follow=True)
    assert "end within 2 seconds" in answer.content.decode()
    assert TokenRevocation.objects.get().pk == ana.pk
    assert AuditEntry.objects.filter(operation="revoke_client_tokens").count() == 1
