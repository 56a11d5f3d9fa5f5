"""Who changed where a person is reached: seen, bounded, and told to the old address."""

from __future__ import annotations

import dataclasses

import pytest

from notifications.core import conf
from notifications.core.intake import contact_changes
from notifications.core.models import Contact, Delivery, Notification, Recipient
from notifications.core.rules.lane import Mode
from notifications.core.rules.templates import contents
from notifications.core.store.redis import state
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.api.conftest import Caller, MakeCaller

PATH = "/v1/recipients/maria"
NEW = {"channel": "sms", "address": "+5511987654321", "primary": True}
OLD = "+5511912345678"


@pytest.fixture(autouse=True)
def _template(db: None) -> None:  # noqa: ARG001 - asked for by name
    words = [contents.words(Channel.SMS, "en", body="The number of your account was changed.")]
    draft = versions.draft(contact_changes.TEMPLATE, contents.content(words), by="test")
    versions.publish(draft, by="test")


@pytest.fixture
def maria(caller: Caller) -> Recipient:
    """Somebody whose contacts the key `orders` has stored."""
    contacts = [
        {"channel": "email", "address": "maria@example.com"},
        {"channel": "sms", "address": OLD},
    ]
    answer = caller.send("PUT", PATH, {"locale": "pt-BR", "contacts": contacts})
    assert answer.status_code == 201, answer.content
    return Recipient.objects.get(user_id="maria")


def notices() -> list[Delivery]:
    made = Notification.objects.filter(type="CONTACT_CHANGED").values_list("id", flat=True)
    return [each for each in Delivery.objects.all() if each.notification_id in set(made)]


def test_a_contact_says_who_made_it_and_who_changed_it(
    make_caller: MakeCaller, maria: Recipient
) -> None:
    del maria
    other = make_caller("marketing")
    added = other.post(f"{PATH}/contacts", NEW).json()
    assert added["created_by"] == f"producer marketing ({other.key.prefix})"
    old = next(each for each in other.get(PATH).json()["contacts"] if each["address"] == OLD)
    assert old["created_by"].startswith("producer orders")
    assert (old["primary"], old["changed_by"]) == (False, added["created_by"])
    assert old["changed_at"] is not None


def test_the_changes_of_a_recipient_are_listed_without_addresses(
    caller: Caller, maria: Recipient
) -> None:
    del maria
    caller.post(f"{PATH}/contacts", NEW)
    caller.send("PATCH", f"{PATH}/preferences", {"channels_off": ["push"]})
    page = caller.get(f"{PATH}/changes", limit=1).json()
    rest = caller.get(f"{PATH}/changes", cursor=page["next"]).json()["results"]
    operations = [line["operation"] for line in (*page["results"], *rest)]
    assert operations[0] == "change_preferences"
    assert {"add_contact", "put_recipient"} <= set(operations)
    assert all(line["by"].startswith("producer orders") for line in rest)
    assert "987654321" not in str(rest)


@pytest.mark.parametrize("way", ["another is primary", "it is taken away", "it is replaced"])
def test_the_old_number_is_told(caller: Caller, maria: Recipient, way: str) -> None:
    old = maria.contacts.get(channel=Channel.SMS)
    match way:
        case "another is primary":
            caller.post(f"{PATH}/contacts", NEW)
        case "it is taken away":
            caller.send("DELETE", f"{PATH}/contacts/{old.pk}")
        case _:
            caller.send("PUT", PATH, {"contacts": [NEW]})
    [notice] = [each for each in notices() if each.channel == Channel.SMS]
    assert notice.contact_id == old.pk


def test_what_changes_nothing_is_told_to_nobody(caller: Caller, maria: Recipient) -> None:
    contacts = [
        {"channel": Channel(each.channel).label, "address": each.address}
        for each in maria.contacts.all()
    ]
    assert caller.send("PUT", PATH, {"contacts": contacts}).status_code == 200
    assert caller.send("PUT", PATH, {"locale": "de"}).status_code == 200
    assert caller.post(f"{PATH}/contacts", NEW | {"primary": False}).status_code == 201
    assert notices() == []


def test_a_notice_is_switched_off_and_is_none_in_test_mode(
    caller: Caller, make_caller: MakeCaller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del maria
    tester = make_caller("tests", mode=Mode.TEST)
    tester.send("PUT", PATH, {"contacts": [NEW | {"address": OLD}]})
    tester.send("PUT", PATH, {"contacts": [NEW]})
    assert notices() == []
    quiet = dataclasses.replace(conf.current(), contact_notice=False)
    monkeypatch.setattr(conf, "current", lambda: quiet)
    assert caller.send("PUT", PATH, {"contacts": [NEW]}).status_code == 200
    assert notices() == []


def test_a_change_goes_through_where_no_notice_can_be_made(
    caller: Caller, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del maria
    monkeypatch.setattr(contact_changes, "TEMPLATE", "never_imported")
    assert caller.post(f"{PATH}/contacts", NEW).status_code == 201
    assert notices() == []


def test_contacts_of_one_recipient_change_so_often_only(caller: Caller, maria: Recipient) -> None:
    del maria
    statuses: list[int] = []
    answer = caller.get(PATH)
    for number in range(contact_changes.BURST + 1):
        answer = caller.post(f"{PATH}/contacts", {"channel": "push", "address": f"device-{number}"})
        statuses.append(answer.status_code)
    assert statuses[:-1] == [201] * contact_changes.BURST
    assert statuses[-1] == 429
    assert answer.json()["type"].endswith("rate-limited")
    assert int(answer["Retry-After"]) > 60
    assert not Contact.objects.filter(address=f"device-{contact_changes.BURST}").exists()
    assert caller.send("PUT", "/v1/recipients/new", {"contacts": [NEW]}).status_code == 201
    state.client().flushdb()
    assert caller.post(f"{PATH}/contacts", NEW).status_code == 201
