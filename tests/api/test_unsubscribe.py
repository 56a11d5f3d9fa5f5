"""The unsubscribe page and one-click: what acts, what only looks, and what an attacker gets."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from django.core import signing
from django.db import OperationalError
from django.test import Client, override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.api.body_limits import UNSUBSCRIBE_LIMIT
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.delivery.unsubscribe_links import Link
from notifications.core.feedback import unsubscribe
from notifications.core.models import (
    NotificationType,
    Preference,
    Recipient,
    Suppression,
    TopicText,
)
from notifications.core.rules import signed_token
from notifications.core.rules.lane import Mode
from notifications.core.rules.language.page_languages import PAGE_LANGUAGES
from notifications.core.rules.suppression import Cause
from notifications.core.store.cached import notification_types, topic_texts
from notifications.core.store.postgres import suppressions
from notifications.core.store.postgres.suppressions import SuppressionEntry
from providers.contract import Channel
from tests.api.conftest import Caller

ONE_CLICK = "List-Unsubscribe=One-Click"
FORM = "application/x-www-form-urlencoded"


def path_for(recipient: Recipient, topic: str = "social") -> str:
    link = Link(recipient_id=recipient.pk, channel=Channel.EMAIL, topic=topic)
    return f"/unsubscribe/{unsubscribe_links.token_of(link, now=clock.now())}"


def categories_off() -> list[str]:
    found = Preference.objects.first()
    return found.categories_off if found else []


def test_one_click_acts_at_once_without_cookies_or_redirects(maria: Recipient) -> None:
    client = Client(enforce_csrf_checks=True)
    for _ in range(2):
        answer = client.post(path_for(maria), ONE_CLICK, content_type=FORM)
        assert answer.status_code == 200
        assert not answer.cookies
        assert categories_off() == ["social"]


@pytest.mark.parametrize("charset", ["ISO-8859-1", "utf-8", "UTF-16", "nonsense"])
def test_one_click_may_name_any_charset(maria: Recipient, charset: str) -> None:
    form = f"{FORM}; charset={charset}"
    answer = Client().generic("POST", path_for(maria), ONE_CLICK.encode(), content_type=form)
    assert (answer.status_code, categories_off()) == (200, ["social"])


def test_one_click_may_come_as_multipart(maria: Recipient) -> None:
    answer = Client().post(path_for(maria), {"List-Unsubscribe": "One-Click"})
    assert (answer.status_code, categories_off()) == (200, ["social"])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_scanner_that_follows_the_link_changes_nothing(maria: Recipient, method: str) -> None:
    address = f"{path_for(maria)}?{ONE_CLICK}&choice=channel"
    assert Client().generic(method, address).status_code == 200
    assert not Preference.objects.exists()
    assert not Suppression.objects.exists()


@pytest.mark.parametrize("body", [b"", b"choice=", b"choice=everything", b"x=1", b"\xff\x00=%zz"])
def test_a_post_that_asks_for_nothing_changes_nothing(maria: Recipient, body: bytes) -> None:
    assert Client().post(path_for(maria), body, content_type=FORM).status_code == 400
    assert not Preference.objects.exists()


def test_a_broken_multipart_body_changes_nothing(maria: Recipient) -> None:
    answer = Client().post(path_for(maria), b"--x", content_type="multipart/form-data")
    assert answer.status_code == 400
    assert not Preference.objects.exists()


def test_a_huge_body_is_not_read(maria: Recipient) -> None:
    body = ONE_CLICK + "&x=" + "x" * UNSUBSCRIBE_LIMIT
    assert Client().post(path_for(maria), body, content_type=FORM).status_code == 413
    assert not Preference.objects.exists()


def undo_on(page: bytes) -> str:
    return re.search(r'name="undo" value="([^"]+)"', page.decode())[1]  # type: ignore[index]  # the test is about its being there


@pytest.mark.parametrize("choice", ["topic", "marketing", "channel"])
def test_what_was_just_done_is_taken_back(maria: Recipient, choice: str) -> None:
    done = Client().post(path_for(maria), {"choice": choice}).content
    assert categories_off() or Suppression.objects.filter(undone_at=None).exists()
    for _ in range(2):
        answer = Client().post(path_for(maria), {"undo": undo_on(done)})
        assert answer.status_code == 200
        assert categories_off() == []
        assert not Suppression.objects.filter(undone_at=None).exists()


def test_an_old_link_subscribes_nobody(maria: Recipient, monkeypatch: pytest.MonkeyPatch) -> None:
    done = Client().post(path_for(maria), {"choice": "topic"}).content
    again = Client().post(path_for(maria), {"choice": "topic"}).content
    assert b'name="undo"' not in again
    others = Client().post(path_for(maria, "orders"), {"undo": undo_on(done)})
    forged = Client().post(path_for(maria), {"undo": undo_on(done)[:-1]})
    monkeypatch.setattr(unsubscribe, "UNDO_FOR", dt.timedelta(seconds=-1))
    late = Client().post(path_for(maria), {"undo": undo_on(done)})
    assert [each.status_code for each in (others, forged, late)] == [404, 404, 404]
    assert categories_off() == ["social"]


def test_undoing_leaves_what_bounced_suppressed(maria: Recipient) -> None:
    done = Client().post(path_for(maria), {"choice": "channel"}).content
    entry = SuppressionEntry(channel=Channel.EMAIL, address="maria@example.com", cause=Cause.BOUNCE)
    suppressions.add([entry], by="ses")
    Client().post(path_for(maria), {"undo": undo_on(done)})
    assert Suppression.objects.get(undone_at=None).reason == Cause.BOUNCE


def test_the_form_offers_the_kind_all_advertising_and_the_channel(maria: Recipient) -> None:
    page = Client().get(path_for(maria)).content.decode()
    assert re.findall(r'value="(\w+)"', page) == ["topic", "marketing", "channel"]
    assert '<html lang="pt-BR" dir="ltr">' in page
    Client().post(path_for(maria), {"choice": "marketing"})
    assert categories_off() == ["marketing"]
    Client().post(path_for(maria), {"choice": "channel"})
    assert Suppression.objects.get().address == "maria@example.com"


@pytest.mark.parametrize("topic", ["INVOICE", "billing"])
def test_a_mandatory_topic_is_not_offered_and_not_said_to_be_off(
    maria: Recipient, topic: str
) -> None:
    NotificationType.objects.create(
        name="INVOICE", priority=2, category="billing", is_mandatory=True
    )
    notification_types.forget()
    page = Client().get(path_for(maria, topic)).content.decode()
    assert re.findall(r'value="(\w+)"', page) == ["marketing", "channel"]
    for body in (ONE_CLICK, "choice=topic"):
        assert Client().post(path_for(maria, topic), body, content_type=FORM).status_code == 409
    assert not Preference.objects.exists()
    NotificationType.objects.create(name="OFFER", priority=2, category="billing")
    notification_types.forget()
    offered = topic == "billing"
    answer = Client().post(path_for(maria, topic), ONE_CLICK, content_type=FORM)
    assert answer.status_code == (200 if offered else 409)
    assert categories_off() == (["billing"] if offered else [])


def test_advertising_is_offered_once(maria: Recipient) -> None:
    page = Client().get(path_for(maria, "marketing")).content.decode()
    assert re.findall(r'value="(\w+)"', page) == ["marketing", "channel"]


@pytest.mark.parametrize("locale", PAGE_LANGUAGES)
def test_the_page_speaks_the_persons_language(maria: Recipient, locale: str) -> None:
    Recipient.objects.update(locale=locale)
    assert f'<html lang="{locale}" dir=' in Client().get(path_for(maria)).content.decode()


def test_nothing_of_a_person_or_message_runs_on_the_page(maria: Recipient) -> None:
    Recipient.objects.update(locale='"><script>alert(1)</script>')
    answer = Client().get(path_for(maria, '"><script>alert({0.__class__})</script>'))
    page = answer.content.decode()
    assert "<script" not in page
    assert (
        "&lt;script&gt;alert({0" in page
    )  # the name of a topic without a text has spaces for dots
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"


def test_only_a_whole_token_of_ours_works(maria: Recipient) -> None:
    token = path_for(maria).removeprefix("/unsubscribe/")
    value, _, signature = token.rpartition(".")
    forged = [
        token[:-1],
        token[1:],
        value,
        f"{value}.",
        f".{signature}",
        f"{value}.{signature[::-1]}",
        signing.Signer(salt="another", sep=".").sign_object([maria.pk, 3, "social"]),
        signing.dumps([maria.pk, 3, "social"]),
        "%00",
        "é.é",
        "x" * 4_000,
    ]
    for each in forged:
        answer = Client().post(f"/unsubscribe/{each}", ONE_CLICK, content_type=FORM)
        assert answer.status_code == 404, each
        assert "text/html" in answer.headers["Content-Type"]
    assert not Preference.objects.exists()


@given(st.text(max_size=200))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_other_token_is_ever_believed(token: str) -> None:
    with pytest.raises(unsubscribe_links.BadLink):
        unsubscribe_links.read(token, now=clock.now())


DAY = dt.timedelta(days=1)


def test_a_link_works_for_a_year_and_then_opens_nothing(maria: Recipient) -> None:
    link = Link(recipient_id=maria.pk, channel=Channel.EMAIL, topic="social")
    issued = clock.now() - unsubscribe_links.LIFETIME
    old = f"/unsubscribe/{unsubscribe_links.token_of(link, now=issued - DAY)}"
    for answer in (
        Client().get(old, headers={"Accept-Language": "de"}),
        Client().post(old, ONE_CLICK, content_type=FORM),
        Client().post(old, {"choice": "channel"}),
    ):
        assert answer.status_code == 410
        assert "/preferences/" not in answer.content.decode()
    assert categories_off() == []
    last_day = f"/unsubscribe/{unsubscribe_links.token_of(link, now=issued)}"
    assert Client().post(last_day, ONE_CLICK, content_type=FORM).status_code == 200
    assert categories_off() == ["social"]


def test_one_click_works_longer_than_laws_ask() -> None:
    assert dt.timedelta(days=60) <= unsubscribe_links.LIFETIME


def test_a_link_of_an_earlier_release_ends_too(maria: Recipient) -> None:
    undated = signed_token.write(
        [maria.pk, int(Channel.EMAIL), "social"], key=unsubscribe_links._keys()[0]
    )
    link, _ = unsubscribe_links.read(undated, now=dt.datetime(2027, 6, 1, tzinfo=dt.UTC))
    assert link.topic == "social"
    with pytest.raises(preference_links.ExpiredLink):
        unsubscribe_links.read(undated, now=dt.datetime(2028, 6, 1, tzinfo=dt.UTC))


def test_a_bad_link_is_explained_in_the_browsers_language() -> None:
    answer = Client().get("/unsubscribe/x", headers={"Accept-Language": "de-AT,en;q=0.5"})
    assert '<html lang="de" dir="ltr">' in answer.content.decode()


def test_a_person_of_the_test_world_or_an_erased_one_has_no_page(maria: Recipient) -> None:
    path = path_for(maria)
    Recipient.objects.update(mode=Mode.TEST)
    assert Client().get(path).status_code == 404
    maria.delete()
    assert Client().post(path, ONE_CLICK, content_type=FORM).status_code == 404


def test_a_link_outlives_the_key_that_signed_it(maria: Recipient) -> None:
    path = path_for(maria)
    old = "a-key-for-tests-that-signs-nothing-of-worth"
    with override_settings(SECRET_KEY="the-next-key", SECRET_KEY_FALLBACKS=[old]):
        assert Client().get(path).status_code == 200
    with override_settings(SECRET_KEY="the-next-key", SECRET_KEY_FALLBACKS=[]):
        assert Client().get(path).status_code == 404


def test_without_the_database_the_mailbox_is_asked_to_come_again(
    maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise OperationalError

    path = path_for(maria)
    monkeypatch.setattr(unsubscribe, "leave", away)
    answer = Client().post(path, ONE_CLICK, content_type=FORM)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")


def test_no_log_line_holds_a_token(
    maria: Recipient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: object) -> None:
        raise OperationalError

    path = path_for(maria)
    token = path.rpartition("/")[2]
    Client().post(path, ONE_CLICK, content_type=FORM)
    monkeypatch.setattr(unsubscribe, "leave", away)
    Client().post(path, ONE_CLICK, content_type=FORM)
    assert "unsubscribed" in caplog.text
    assert "Service Unavailable: unsubscribe/<str:token>" in caplog.text
    assert token not in caplog.text


def test_a_key_does_not_switch_on_what_the_person_switched_off(
    caller: Caller, maria: Recipient
) -> None:
    preferences = f"/v1/recipients/{maria.user_id}/preferences"
    caller.send("PATCH", preferences, {"categories_off": ["social", "news"]})
    Client().post(path_for(maria), ONE_CLICK, content_type=FORM)
    for wanted in ([], ["news"]):
        answer = caller.send("PATCH", preferences, {"categories_off": wanted})
        assert answer.status_code == 409
        assert answer.json()["errors"][0]["pointer"] == "/categories_off"
        assert set(categories_off()) == {"social", "news"}
    kept = caller.send("PATCH", preferences, {"categories_off": ["social"], "caps": {}})
    assert (kept.status_code, kept.json()["categories_left"]) == (200, ["social"])


def test_the_person_switches_on_again_and_then_a_key_may(caller: Caller, maria: Recipient) -> None:
    preferences = f"/v1/recipients/{maria.user_id}/preferences"
    done = Client().post(path_for(maria), {"choice": "topic"}).content
    assert Client().post(path_for(maria), {"undo": undo_on(done)}).status_code == 200
    caller.send("PATCH", preferences, {"categories_off": ["social"]})
    assert caller.send("PATCH", preferences, {"categories_off": []}).status_code == 200


@pytest.mark.parametrize(
    ("language", "kind"),
    [
        ("de", "Nachrichten der Art „Likes und Kommentare“"),
        ("en", "Messages of the kind “Likes and comments”"),
        ("fr", "“Likes and comments”"),  # the fallback of a language without a text is English
    ],
)
def test_the_topic_has_its_name_for_recipients(maria: Recipient, language: str, kind: str) -> None:
    TopicText.objects.create(topic="social", locale="en", name="Likes and comments")
    TopicText.objects.create(topic="social", locale="de", name="Likes und Kommentare")
    topic_texts.forget()
    page = Client().get(path_for(maria), {"language": language}).content.decode()
    assert kind.strip("“”") in page
    assert "“social”" not in page
    topic_texts.forget()


def test_a_topic_without_a_name_reads_as_words(maria: Recipient) -> None:
    topic_texts.forget()
    page = Client().get(path_for(maria, "ORDER_READY"), {"language": "en"}).content.decode()
    assert "Messages of the kind “Order ready”" in page
