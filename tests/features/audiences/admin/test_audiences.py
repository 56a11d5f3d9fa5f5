"""Saved audiences, topics and uploads in the admin."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from notifications.core.models import (
    Attribute,
    Audience,
    AuditEntry,
    Recipient,
    RecipientList,
    Topic,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.cached import attributes
from notifications.features.audiences.rows import topics

AUDIENCES = reverse("admin:notifications_audience_changelist")
ADD = reverse("admin:notifications_audience_add")
PRO = {"attribute": "plan", "is": "pro"}
FORM = {"name": "pros", "mode": "1", "audience": json.dumps(PRO)}


@pytest.fixture(autouse=True)
def _people(db: None) -> None:  # noqa: ARG001 - asked for by name
    Attribute.objects.create(name="plan", kind="text", created_by="maria")
    attributes.kinds.forget()
    for number in range(3):
        Recipient.objects.create(user_id=f"u_{number}", locale="en")


def test_an_audience_is_saved_changed_and_deleted(door: Client) -> None:
    checked = door.post(ADD, {**FORM, "do": "check"}, headers={"Accept": "application/json"})
    assert "plan is pro" in checked.json()["parts"]["audience"]
    assert not Audience.objects.exists()
    assert door.post(ADD, {**FORM, "do": "save"}).status_code == 302
    row = Audience.objects.get()
    assert (row.expression, row.created_by) == (PRO, "operator")
    page = reverse("admin:notifications_audience_change", args=[row.pk])
    assert "pros" in door.get(page).content.decode()
    changed = {**FORM, "audience": '{"everyone": true}', "do": "save"}
    assert door.post(page, changed).status_code == 302
    row.refresh_from_db()
    assert row.expression == {"everyone": True}
    door.post(reverse("admin:notifications_audience_delete", args=[row.pk]), {"post": "yes"})
    assert not Audience.objects.exists()
    operations = set(AuditEntry.objects.values_list("operation", flat=True))
    assert {"add_audience", "change_audience", "delete_audience"} <= operations


def test_a_wrong_audience_is_not_saved(door: Client) -> None:
    door.post(ADD, {**FORM, "do": "save"})
    for given, said in (
        ({}, "exists already"),
        ({"name": "x", "audience": '{"attribute": "age", "is": 1}'}, "unknown attribute"),
        ({"name": "x", "audience": "{"}, "This is not JSON"),
        ({"name": ""}, "required"),
        ({"name": "x", "mode": "9"}, "valid choice"),
    ):
        answer = door.post(ADD, {**FORM, **given, "do": "save"})
        text = answer.content.decode()
        assert said in text, given
        assert "&lt;span" not in text, given
    assert Audience.objects.count() == 1


def test_a_used_audience_is_not_deleted(door: Client) -> None:
    door.post(ADD, {**FORM, "do": "save"})
    using = {**FORM, "name": "not pros", "audience": '{"not": {"audience": "pros"}}'}
    door.post(ADD, {**using, "do": "save"})
    row = Audience.objects.get(name="pros")
    page = reverse("admin:notifications_audience_delete", args=[row.pk])
    text = door.post(page, {"post": "yes"}, follow=True).content.decode()
    assert "uses the audience pros" in text
    assert Audience.objects.count() == 2


def test_who_may_look_saves_nothing(viewer: User, window: Client) -> None:
    row = Audience.objects.create(name="all", expression={"everyone": True})
    page = reverse("admin:notifications_audience_change", args=[row.pk])
    assert window.get(page).status_code == 200
    assert window.post(page, {**FORM, "do": "save"}).status_code == 403
    assert window.get(ADD).status_code == 403
    viewer.user_permissions.add(Permission.objects.get(codename="change_audience"))
    assert window.post(page, {**FORM, "do": "save"}).status_code == 302


def test_a_topic_shows_its_size_a_part_of_the_list_and_a_search(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.ensure(mode=Mode.LIVE, name="news", by="maria")
    topics.subscribe(topic, ["u_0", "u_2"])
    monkeypatch.setattr("notifications.features.audiences.admin.audiences.SUBSCRIBERS_SHOWN", 1)
    page = reverse("admin:notifications_topic_change", args=[topic.pk])
    text = door.get(page).content.decode()
    assert "2 subscribers" in text
    assert ">u_0<" in text
    assert ">u_2<" not in text
    first = Recipient.objects.get(user_id="u_0").pk
    assert f"?after={first}" in text
    assert ">u_2<" in door.get(page, {"after": first}).content.decode()
    assert "u_2 is subscribed." in door.get(page, {"q": "u_2"}).content.decode()
    assert "u_1 is not subscribed." in door.get(page, {"q": "u_1"}).content.decode()
    assert "No recipient has" in door.get(page, {"q": "nobody"}).content.decode()
    for strange in ("-1", "9" * 30, "²", "x"):
        assert door.get(page, {"after": strange}).status_code == 200
    topics.delete(topic)
    assert door.get(page).status_code in {302, 404}
    assert Topic.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_file_is_uploaded_with_the_loader_of_the_api(door: Client) -> None:
    add = reverse("admin:notifications_recipientlist_add")
    csv = SimpleUploadedFile("winners.csv", b"user_id,code\nu_0,X\nu_9,Y\nu_0,Z\n")
    answer = door.post(add, {"name": "", "mode": "1", "file": csv}, follow=True)
    row = RecipientList.objects.get()
    assert (row.state, row.members, row.unknown, row.duplicates) == ("ready", 1, 1, 1)
    assert "1 recipients of 3 lines" in answer.content.decode()
    lines = SimpleUploadedFile("more.ndjson", b'{"user_id": "u_1"}\n{"user_id": "u_2"}\n')
    door.post(add, {"name": "more", "mode": "1", "file": lines})
    assert RecipientList.objects.get(name="more").members == 2
    wrong = SimpleUploadedFile("wrong.csv", b"name\nMaria\n")
    text = door.post(add, {"name": "wrong", "mode": "1", "file": wrong}).content.decode()
    assert 'role="alert"' in text
    assert RecipientList.objects.get(name="wrong").state == "failed"
    assert AuditEntry.objects.filter(operation="upload_audience").count() == 2
