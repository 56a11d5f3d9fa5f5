"""Each change in the admin is in the audit log, on the object's page and in the list."""

from __future__ import annotations

import re

import orjson
import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from notifications.core.models import (
    Alert,
    ApiKey,
    AuditEntry,
    Contact,
    DeadLetter,
    NotificationType,
    Producer,
    Recipient,
    Suppression,
)
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import alerts, api_keys, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.admin.confirming import confirm

PREFERENCES = {
    "preference-TOTAL_FORMS": "0",
    "preference-INITIAL_FORMS": "0",
    "preference-MIN_NUM_FORMS": "0",
    "preference-MAX_NUM_FORMS": "1",
}


def latest(operation: str) -> AuditEntry:
    entry = AuditEntry.objects.filter(operation=operation).first()
    assert entry is not None, operation
    assert entry.by == "operator"
    assert len(entry.request_id) == 32
    return entry


def test_adding_changing_and_deleting_in_a_form(door: Client) -> None:
    path = "/admin/notifications/notificationtype/"
    form = {"name": "ORDER", "priority": 1, "category": "orders"}
    assert door.post(f"{path}add/", form).status_code == 302
    assert latest("add_notificationtype").after["category"] == "orders"
    assert door.post(f"{path}ORDER/change/", form | {"category": "shop"}).status_code == 302
    changed = latest("change_notificationtype")
    assert (changed.before, changed.after) == ({"category": "orders"}, {"category": "shop"})
    assert door.post(f"{path}ORDER/delete/", {"post": "yes"}).status_code == 302
    assert latest("delete_notificationtype").before["category"] == "shop"
    assert not NotificationType.objects.exists()


def test_a_refused_form_leaves_no_entry(door: Client) -> None:
    NotificationType.objects.create(name="ORDER", priority=1)
    path = "/admin/notifications/notificationtype/ORDER/change/"
    assert door.post(path, {"name": "ORDER", "priority": 77}).status_code == 200
    assert not AuditEntry.objects.exists()


def test_a_persons_page_shows_who_changed_contacts_and_preferences(
    door: Client, maria: Recipient
) -> None:
    contact = maria.contacts.get()
    page = f"/admin/notifications/contact/{contact.pk}/change/?show=address"
    form = {"recipient": maria.pk, "channel": 3, "kind": "", "is_primary": "on"}
    form["channel"] = contact.channel
    assert door.post(page, form | {"address": "other@sandbox.example"}).status_code == 302
    changed = latest("change_contact")
    assert (changed.before["address"], changed.after["address"]) == ("ma…@…le", "ot…@…le")
    shown = door.get(f"/admin/notifications/recipient/{maria.pk}/change/").content.decode()
    assert "change_contact" in shown
    assert "other@sandbox.example" not in shown


def test_actions_are_in_the_log(door: Client, make_letters: object) -> None:
    del make_letters
    alerts.raise_once(AlertKind.BEAT_DEAD, "", "x")
    chosen = {"_selected_action": [Alert.objects.get().pk]}
    door.post("/admin/notifications/alert/", {"action": "resolve", **chosen})
    assert latest("resolve_alert").object_type == "alert"
    producer = Producer.objects.create(name="shop")
    key, _ = api_keys.issue(producer, mode=Mode.LIVE, scopes=["notifications:*"])
    door.post("/admin/notifications/apikey/", {"action": "revoke", "_selected_action": [key.pk]})
    assert latest("revoke_key").after["revoked_by"] == "operator"
    entry = SuppressionEntry(
        channel=Channel.EMAIL, address="a@example.com", cause=Cause.STOP_KEYWORD
    )
    suppressions.add([entry], by="twilio")
    row = Suppression.objects.get()
    door.post(f"/admin/notifications/suppression/{row.pk}/undo/", {"note": "she called"})
    assert latest("undo_suppression").after["undone_by"] == "operator"
    door.post("/admin/notifications/breaker/sandbox/push/closed/")
    assert latest("force_breaker").object_type == "breaker"


def test_discarding_letters_is_in_the_log(door: Client, make_letters: object) -> None:
    [letter] = make_letters(["permanent"])  # type: ignore[operator]  # the fixture is a function
    confirm(door, f"/admin/notifications/deadletter/discard/?ids={letter.pk}")
    assert latest("discard_dead_letter").object_id == str(letter.pk)
    assert DeadLetter.objects.get().resolved_at is not None


def test_a_key_is_made_and_rotated_and_its_secret_is_in_no_entry(door: Client) -> None:
    producer = Producer.objects.create(name="shop")
    form = {"producer": producer.pk, "mode": 1, "scopes": ["notifications:*"], "note": ""}
    made = door.post("/admin/notifications/apikey/add/", form)
    old = ApiKey.objects.get()
    assert old.created_by == "operator"
    rotated = door.post(f"/admin/notifications/apikey/{old.pk}/rotate/", {"hours": "1"})
    new = ApiKey.objects.exclude(pk=old.pk).get()
    old.refresh_from_db()
    assert (new.replaces, new.scopes, new.created_by) == (old, old.scopes, "operator")
    assert old.expires_at is not None
    again = door.post(f"/admin/notifications/apikey/{old.pk}/rotate/", {"hours": "1"}, follow=True)
    assert "was rotated before" in again.content.decode()
    secrets = [
        re.findall(r'id="secret">(nk_live_\w+)<', page.content.decode())[0]
        for page in (made, rotated)
    ]
    assert all(api_keys.recognise(secret) for secret in secrets)
    logged = orjson.dumps(list(AuditEntry.objects.values("before", "after"))).decode()
    for secret in secrets:
        assert secret.rpartition("_")[2] not in logged
    assert bytes(new.digest).hex() not in logged
    assert {"add_apikey", "rotate_key"} <= set(
        AuditEntry.objects.values_list("operation", flat=True)
    )


def test_the_log_is_read_only_and_found_by_whom_and_what(door: Client, maria: Recipient) -> None:
    contact = maria.contacts.get()
    path = "/admin/notifications/contact/"
    Contact.objects.update(invalid_reason="x", invalidated_at=contact.created_at)
    door.post(path, {"action": "make_valid", "_selected_action": [contact.pk]})
    entry = latest("make_contact_valid")
    log = "/admin/notifications/auditentry/"
    for query in ("q=operator", f"q={entry.request_id}", "object_type=contact"):
        assert door.get(f"{log}?{query}").context["cl"].result_count == 1
    assert door.get(f"{log}?q=nobody").context["cl"].result_count == 0
    assert door.get(f"{log}{entry.pk}/change/").status_code == 200
    assert door.post(f"{log}{entry.pk}/change/", {"by": "nobody"}).status_code == 403
    assert door.post(f"{log}{entry.pk}/delete/", {"post": "yes"}).status_code == 403


@pytest.mark.parametrize(
    ("right", "seen", "hidden"),
    [
        ("view_contact", 'id="reached"', 'id="lately"'),
        ("view_notification", "Locale", 'id="reached"'),
    ],
)
def test_a_persons_card_shows_what_the_operator_may_view(
    maria: Recipient, right: str, seen: str, hidden: str
) -> None:
    user = User.objects.create_user("half", password="x", is_staff=True)
    rights = Permission.objects.filter(codename__in=["view_recipient", right])
    user.user_permissions.set(rights)
    client = Client()
    client.force_login(user)
    page = client.get(f"/admin/notifications/recipient/{maria.pk}/change/").content.decode()
    assert seen in page
    assert hidden not in page
    assert 'id="changes"' not in page
