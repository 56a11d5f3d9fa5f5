"""Producers get keys, recipients are found, addresses stay where they belong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from notifications.core import clock, conf
from notifications.core.models import (
    Alert,
    ApiKey,
    ArchiveKey,
    AuditEntry,
    Contact,
    ErasureJob,
    Notification,
    Preference,
    Producer,
    Recipient,
    Template,
)
from notifications.core.rules import ids
from notifications.core.rules.allowed import AllowList
from notifications.core.rules.suppression import Cause
from notifications.core.store.postgres import api_keys, suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from notifications.core.sweeps import housekeeping
from providers.contract import Channel
from tests.admin.conftest import ADDRESS, MakeDelivery


def changelist(model: str) -> str:
    return reverse(f"admin:notifications_{model}_changelist")


def change(model: str, pk: int) -> str:
    return reverse(f"admin:notifications_{model}_change", args=[pk])


def test_a_key_is_shown_once_and_works_until_it_is_revoked(door: Client) -> None:
    producer = Producer.objects.create(name="shop")
    made = door.post(
        reverse("admin:notifications_apikey_add"),
        {"producer": producer.pk, "mode": 1, "scopes": ["notifications:*"], "note": ""},
    )
    secret = made.context["key"].secret
    assert secret in made.content.decode()
    assert "no-store" in made.headers["Cache-Control"]
    assert api_keys.recognise(secret) is not None
    key = ApiKey.objects.get()
    for page in (changelist("apikey"), change("apikey", key.pk)):
        assert secret not in door.get(page).content.decode()
    door.post(changelist("apikey"), {"action": "revoke", "_selected_action": [key.pk]})
    api_keys.forget()
    assert api_keys.recognise(secret) is None


def test_an_address_is_on_the_contacts_own_page_alone(door: Client, maria: Recipient) -> None:
    contact = maria.contacts.get()
    elsewhere = [
        changelist("recipient"),
        change("recipient", maria.pk),
        changelist("contact"),
    ]
    for page in elsewhere:
        assert ADDRESS not in door.get(page).content.decode()
    assert "m***@sandbox.example" in door.get(changelist("contact")).content.decode()
    assert ADDRESS not in door.get(change("contact", contact.pk)).content.decode()
    assert not AuditEntry.objects.exists()
    shown = door.get(change("contact", contact.pk).replace("change/", "address/"), follow=True)
    assert ADDRESS in shown.content.decode()
    seen = AuditEntry.objects.get()
    assert (seen.by, seen.operation, seen.object_id) == ("operator", "see_address", str(contact.pk))


def test_who_may_not_see_addresses_gets_masked_ones(window: Client, maria: Recipient) -> None:
    page = change("contact", maria.contacts.get().pk)
    for path in (page, f"{page}?show=address"):
        answer = window.get(path).content.decode()
        assert ADDRESS not in answer
        assert "m***@sandbox.example" in answer
    assert window.get(page.replace("change/", "address/")).status_code == 403
    assert not AuditEntry.objects.exists()


def test_a_contact_is_found_by_its_whole_address_only(door: Client, maria: Recipient) -> None:
    own_page = change("contact", maria.contacts.get().pk)
    assert own_page in door.get(changelist("contact"), {"q": ADDRESS}).content.decode()
    assert own_page not in door.get(changelist("contact"), {"q": ADDRESS[:5]}).content.decode()


def test_a_contact_whose_address_is_suppressed_says_so_and_why(
    door: Client, maria: Recipient
) -> None:
    contact = maria.contacts.get()
    entry = SuppressionEntry(
        channel=Channel(contact.channel), address=ADDRESS, cause=Cause.STOP_KEYWORD
    )
    pages = [change("recipient", maria.pk), change("contact", contact.pk)]
    assert not any("stop keyword" in door.get(page).content.decode() for page in pages)
    suppressions.add([entry], by="operator")
    assert all("stop keyword" in door.get(page).content.decode() for page in pages)
    assert "suppressed" in door.get(changelist("contact")).content.decode()


def test_a_contact_is_made_valid_again(door: Client, maria: Recipient) -> None:
    contact = maria.contacts.get()
    Contact.objects.update(invalidated_at=clock.now(), invalid_reason="hard bounce")
    data = {"action": "make_valid", "_selected_action": [contact.pk]}
    door.post(changelist("contact"), data)
    contact.refresh_from_db()
    assert (contact.invalidated_at, contact.invalid_reason) == (None, "")


def preferences(**changed: object) -> dict[str, object]:
    management = {
        f"{prefix}-{name}": 0
        for prefix in ("preference",)
        for name in ("TOTAL_FORMS", "INITIAL_FORMS")
    }
    recipient = {"mode": 1, "user_id": "u_789012", "locale": "pt_br", "timezone": ""}
    return recipient | management | {"preference-TOTAL_FORMS": 1} | changed


def test_preferences_are_typed_as_words(door: Client, maria: Recipient) -> None:
    typed = {"preference-0-channel_order": ["sms", "push", ""], "preference-0-channels_off": ["3"]}
    door.post(change("recipient", maria.pk), preferences(**typed))
    saved = Preference.objects.get(recipient=maria)
    assert saved.channel_order == [Channel.SMS, Channel.PUSH]
    assert saved.channels_off == [Channel.EMAIL]


def test_caps_are_typed_as_words_and_shown_as_they_were_typed(
    door: Client, maria: Recipient
) -> None:
    typed = {"preference-0-caps": "sms 1/day,  push 5/hour"}
    door.post(change("recipient", maria.pk), preferences(**typed))
    assert Preference.objects.get(recipient=maria).caps == {"sms": "1/day", "push": "5/hour"}
    shown = door.get(change("recipient", maria.pk)).content.decode()
    assert 'value="sms 1/day, push 5/hour"' in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"timezone": "Mars/Base"}, "Unknown IANA timezone"),
        ({"locale": "xx"}, "Unknown locale"),
        ({"preference-0-channel_order": "pigeon"}, "unknown channel pigeon; use one of push"),
        ({"preference-0-channel_order": "sms, sms"}, "a channel is repeated"),
        ({"preference-0-caps": "sms 3"}, "is an invalid cap"),
        ({"preference-0-caps": "3/day"}, "use the form: sms 1/day"),
        ({"preference-0-caps": "pigeon 3/day"}, "unknown channel pigeon"),
        ({"preference-0-caps": "sms 3/day, sms 1/day"}, "a channel is repeated"),
    ],
)
def test_what_cannot_be_is_refused(
    door: Client, maria: Recipient, typed: dict[str, object], told: str
) -> None:
    answer = door.post(change("recipient", maria.pk), preferences(**typed))
    assert told in answer.content.decode()
    assert not Preference.objects.exists()


def test_an_alert_is_resolved_by_who_may(door: Client, window: Client) -> None:
    alert = Alert.objects.create(kind="beat_dead", detail="no sweep for 70 s")
    data = {"action": "resolve", "_selected_action": [alert.pk]}
    window.post(changelist("alert"), data)
    alert.refresh_from_db()
    assert alert.resolved_at is None
    door.post(changelist("alert"), data)
    alert.refresh_from_db()
    assert alert.resolved_at is not None


@pytest.mark.parametrize(
    ("settings", "label"),
    [
        ({"dry_run": True}, "Dry run: nothing is sent"),
        ({"allowed": AllowList.of(["u_1"])}, "Allow-list: others are suppressed"),
    ],
)
def test_every_page_says_so_where_not_everybody_is_reached(
    door: Client, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], label: str
) -> None:
    assert label not in door.get(changelist("contact")).content.decode()
    careful = replace(conf.current(), **settings)
    monkeypatch.setattr(conf, "current", lambda: careful)
    assert label in door.get(changelist("contact")).content.decode()


PAGES = [
    *("deadletter", "replayjob", "alert", "rejected", "sweeprun"),
    *("template", "notificationtype", "recipient", "contact", "producer", "apikey"),
    "providerroute",
]


@pytest.mark.parametrize("model", PAGES)
def test_every_list_opens_for_both_and_for_no_stranger(
    door: Client, window: Client, model: str
) -> None:
    page = changelist(model)
    assert door.get(page).status_code == 200
    assert window.get(page).status_code == 200
    assert Client().get(page).status_code == 302


@pytest.mark.django_db
def test_the_demo_loads_twice_and_changes_nothing_the_second_time(tmp_path: Path) -> None:
    keys_file = tmp_path / "keys.json"
    arguments = ["load_demo", "--keys-file", str(keys_file), "--admin-password", "a-long-password"]
    call_command(*arguments)
    first = (keys_file.read_text(), Contact.objects.count(), Template.objects.count())
    assert keys_file.stat().st_mode & 0o777 == 0o600
    call_command(*arguments)
    assert (keys_file.read_text(), Contact.objects.count(), Template.objects.count()) == first
    assert api_keys.recognise(json.loads(first[0])["order-service"]) is not None
    maria = Recipient.objects.get(user_id="u_789012")
    assert maria.contacts.filter(channel=Channel.PUSH).get().kind == "fcm_token"


def test_a_webhooks_new_signing_secret_is_shown_once(door: Client) -> None:
    person = Recipient.objects.create(user_id="company")
    hook = Contact.objects.create(
        recipient=person, channel=Channel.WEBHOOK, address="https://hooks.example/x"
    )
    listed = reverse("admin:notifications_contact_changelist")
    asked = {"action": "renew_secret", "_selected_action": [hook.pk]}
    assert "whsec_" in door.post(listed, asked, follow=True).content.decode()
    assert "whsec_" not in door.get(listed).content.decode()


@pytest.mark.parametrize("is_selection", [False, True])
def test_the_deletion_of_a_recipient_is_an_erasure(
    door: Client, make_delivery: MakeDelivery, maria: Recipient, *, is_selection: bool
) -> None:
    notification_id = ids.notification_of(make_delivery().id)
    ArchiveKey.objects.create(recipient_id=maria.pk, sealed=b"sealed")
    form = {"user_id": maria.user_id, "mode": 1, "locale": "de", "timezone": ""}
    no_preferences = {"preference-TOTAL_FORMS": 0, "preference-INITIAL_FORMS": 0}
    door.post(change("recipient", maria.pk), {**form, **no_preferences})
    assert LogEntry.objects.get().object_repr == maria.user_id
    if is_selection:
        selected = {"action": "delete_selected", "_selected_action": [maria.pk], "post": "yes"}
        door.post(changelist("recipient"), selected)
    else:
        button = reverse("admin:notifications_recipient_delete", args=[maria.pk])
        assert door.post(button, {"post": "yes"}).status_code == 302
    assert not Recipient.objects.exists()
    assert not Contact.objects.exists()
    assert not ArchiveKey.objects.exists()
    job = ErasureJob.objects.get()
    assert (job.recipient_id, job.requested_by, job.contacts) == (maria.pk, "operator", 1)
    entry = AuditEntry.objects.get(operation="erase_recipient")
    assert maria.user_id not in str([entry.before, entry.after, entry.object_name])
    assert not LogEntry.objects.exists()
    housekeeping.erase_recipients(now=clock.now(), limit=10)
    assert not Notification.objects.filter(id=notification_id).exists()
