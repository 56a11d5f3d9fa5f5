"""A box of many names finds those with the typed text."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from notifications.core.models import Audience, NotificationType, Template, TemplateText, Topic
from notifications.core.rules.lane import Mode, Priority
from notifications.core.store.templates import versions
from providers.contract import Channel

NAMES = reverse("admin:notifications_audience_names")


def found(door: Client, **given: Any) -> list[list[str]]:  # noqa: ANN401 - any parameter
    answer = door.get(NAMES, {"mode": 1, **given})
    assert answer.status_code == 200, answer.content[:300]
    names: list[list[str]] = answer.json()["names"]
    return names


@pytest.fixture
def _names(db: None) -> None:  # noqa: ARG001 - asked for by name
    for name in ("summer_sale", "winter_sale"):
        for version in (1, 2):
            template = Template.objects.create(template_id=name, version=version)
            TemplateText.objects.create(template=template, channel=Channel.EMAIL, body="Sale")
            versions.publish(template, by="maria")
    Template.objects.create(template_id="winter_draft")
    NotificationType.objects.create(name="WINTER", priority=Priority.P3, category="marketing")
    for mode in Mode:
        Topic.objects.create(name=f"winter{mode.value}", mode=mode)
        Audience.objects.create(
            name=f"winter fans {mode.value}",
            mode=mode,
            expression={},
            created_by="m",
            changed_by="m",
        )


@pytest.mark.usefixtures("_names")
def test_names_with_the_text_are_found_beyond_the_first_ones(
    door: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notifications.core.admin.names.MOST", 1)
    assert found(door, kind="templates", part="WINT") == [["winter_sale", "winter_sale"]]
    assert found(door, kind="types", part="int") == [["WINTER", "WINTER (P3, marketing)"]]
    assert found(door, kind="topics", part="wint") == [["winter1", "winter1"]]
    assert found(door, kind="topics", part="wint", mode=2) == [["winter2", "winter2"]]
    assert found(door, kind="audiences", part="fans 1") == [["winter fans 1", "winter fans 1"]]
    assert len(found(door, kind="templates", part="sale")) == 1, "the answer is bounded"


@pytest.mark.usefixtures("_names")
def test_a_strange_text_finds_nothing_and_breaks_nothing(door: Client) -> None:
    for part in ("%", "_x", "\\", "'", "x" * 9_000, "w\0x"):
        assert found(door, kind="templates", part=part) == []
    assert len(found(door, kind="templates", part="")) == 2


@pytest.mark.django_db
@pytest.mark.parametrize("given", [{"kind": "people"}, {}, {"kind": "types", "mode": "x"}])
def test_an_unknown_kind_or_mode_is_told(door: Client, given: dict[str, str]) -> None:
    assert door.get(NAMES, {"mode": "1", **given}).status_code == 400


@pytest.mark.usefixtures("_names")
def test_the_names_need_the_right_to_see_audiences_or_to_compose(client: Client) -> None:
    person = User.objects.create_user("guest", password="a-long-password", is_staff=True)
    client.force_login(person)
    asked = {"kind": "types", "mode": "1"}
    assert client.get(NAMES, asked).status_code == 403
    person.user_permissions.set(Permission.objects.filter(codename="add_bulkjob"))
    assert client.get(NAMES, asked).status_code == 200
