"""The preference page of a recipient: no script, no cookie, and no change that was not chosen."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from django.db import OperationalError
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import preference_links, unsubscribe_links
from notifications.core.feedback import preference_changes
from notifications.core.models import (
    AuditEntry,
    NotificationType,
    Preference,
    Recipient,
    TopicText,
)
from notifications.core.rules.language.page_languages import PAGE_LANGUAGES
from notifications.core.store.cached import notification_types, topic_texts
from notifications.core.store.rate_limits import address_limits
from notifications.core.store.rate_limits.address_limits import Bucket
from notifications.features.preference_page.api import page as preference_page
from providers.contract import Channel
from tests.api.conftest import Caller

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Reply


@pytest.fixture(autouse=True)
def _types(db: None) -> None:  # noqa: ARG001 - pytest-django asks for it by name
    for name, priority, category in (
        ("OTP", 0, "security"),
        ("LIKE", 2, "social"),
        ("FOLLOW", 2, "social"),
        ("SALE", 3, "marketing"),
    ):
        NotificationType.objects.create(name=name, priority=priority, category=category)
    NotificationType.objects.create(name="INVOICE", priority=1, is_mandatory=True)
    notification_types.forget()
    topic_texts.forget()


@pytest.fixture
def path(maria: Recipient) -> str:
    return preference_links.PATH + preference_links.token_of(maria.pk, now=clock.now())


def _fields(page: Reply) -> dict[str, Any]:
    """Return the fields that a browser posts for an unchanged page."""
    source = page.content.decode()
    boxes = re.findall(r'name="on" value="([^"]+)"( checked)?( disabled)?', source)
    return {
        "drawn": _one(r'name="drawn" value="([^"]*)"', source),
        "on": [html.unescape(value) for value, on, off in boxes if on and not off],
        "quiet_start": _one(r'name="quiet_start" value="([^"]*)"', source),
        "quiet_end": _one(r'name="quiet_end" value="([^"]*)"', source),
        "locale": _one(r'<option value="([^"]*)" lang="[^"]*" selected', source),
        "drawn_digests": _one(r'name="drawn_digests" value="([^"]*)"', source),
        "digest": re.findall(r'<option value="([^"]+/[a-z_]+)" selected', source),
        "timezone": _one(r"<option selected>([^<]*)<", source),
    }


def _post(path: str, fields: dict[str, Any]) -> Reply:
    """Post as a browser does."""
    form = urlencode(fields, doseq=True)
    return Client().post(path, form, content_type="application/x-www-form-urlencoded")


def _one(pattern: str, source: str) -> str:
    found = re.search(pattern, source)
    return html.unescape(found[1]) if found else ""


def test_an_unchanged_form_changes_nothing(path: str, maria: Recipient) -> None:
    Preference.objects.create(
        recipient=maria,
        channels_off=[2],
        categories_off=["marketing"],
        quiet_hours=[{"start": "22:00", "end": "07:00"}],
    )
    before = Preference.objects.values().get()
    fields = _fields(Client().get(path))
    answer = _post(path, fields)
    assert answer.status_code == 200
    assert Preference.objects.values().get() == before
    assert not AuditEntry.objects.filter(by=preference_page.BY).exists()


def test_the_chosen_cells_alone_are_saved_and_audited(path: str, maria: Recipient) -> None:
    fields = _fields(Client().get(path))
    fields["on"].remove("social/email")
    fields["on"].remove("/sms")
    fields |= {"quiet_start": "22:00", "quiet_end": "07:00:00", "locale": "ar"}
    fields |= {"timezone": "Africa/Cairo"}
    # In between a producer switches something else off.
    Preference.objects.create(recipient=maria, categories_off=["marketing"])
    answer = _post(path, fields)
    page = answer.content.decode()
    assert (answer.status_code, 'dir="rtl"' in page, 'role="status"' in page) == (200, True, True)
    row = Preference.objects.get()
    assert (row.channels_off, row.channels_left) == ([2], [2])
    assert (row.categories_off, row.categories_left) == (["marketing"], [])
    assert row.topics_off == row.topics_left == {"email": ["social"]}
    assert [(w["start"], w["end"]) for w in row.quiet_hours] == [("22:00", "07:00")]
    maria.refresh_from_db()
    assert (maria.locale, maria.timezone) == ("ar", "Africa/Cairo")
    entries = AuditEntry.objects.filter(by=preference_page.BY)
    assert {each.object_type for each in entries} == {"preference", "recipient"}
    fields = _fields(Client().get(path))
    back = {**fields, "on": [*fields["on"], "social/email", "/sms"], "quiet_start": ""}
    _post(path, {**back, "quiet_end": ""})
    row = Preference.objects.get()
    assert (row.channels_off, row.topics_off, row.topics_left) == ([], {}, {})
    assert row.quiet_hours == []


def test_what_is_mandatory_cannot_be_changed_by_a_forged_form(path: str) -> None:
    page = Client().get(path).content.decode()
    assert "INVOICE" not in _fields(Client().get(path))["drawn"]
    assert "Sempre ativo" in page  # the reason, in the language of the recipient
    for drawn in ("INVOICE/email/1", "security/email/1", "OTP/sms/1"):
        assert _post(path, {"drawn": drawn}).status_code == 409
    assert not Preference.objects.exists()
    for drawn in ("x/pigeon/1", "///", "%ff/email/1", "a" * 900, "social"):
        assert _post(path, {"drawn": drawn}).status_code == 200


def test_a_forged_form_stores_no_topic_that_no_type_has(path: str) -> None:
    for drawn in ("soc%00ial/email/1", "nothing/sms/1", f"{'x' * 9_000}/email/1"):
        assert _post(path, {"drawn": drawn}).status_code == 200
    assert not Preference.objects.exists()
    _post(path, {"drawn": "LIKE/email/1 nothing/email/1 social/sms/1"})
    assert Preference.objects.get().topics_off == {"email": ["LIKE"], "sms": ["social"]}


@pytest.mark.parametrize("start", ["", "07:00", "night", "7", "22:00+05:00", "22:00Z"])
def test_wrong_quiet_hours_are_refused_and_said(path: str, start: str) -> None:
    fields = _fields(Client().get(path)) | {"quiet_start": start, "quiet_end": "07:00"}
    answer = _post(path, fields)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.content.decode()
    assert not Preference.objects.exists()


def test_quiet_hours_that_two_fields_cannot_show_are_kept(path: str, maria: Recipient) -> None:
    windows = [{"start": "22:00", "end": "07:00", "days": ["fri"], "channels": ["sms"]}]
    Preference.objects.create(recipient=maria, quiet_hours=windows)
    page = Client().get(path, {"language": "en"})
    assert "22:00 - 07:00 · Fri · Text message" in page.content.decode()
    fields = _fields(page)
    _post(path, fields)
    assert Preference.objects.get().quiet_hours == windows
    _post(path, {**fields, "quiet_clear": "1"})
    assert Preference.objects.get().quiet_hours == []


@pytest.mark.parametrize("language", PAGE_LANGUAGES)
def test_the_page_has_each_language(path: str, language: str) -> None:
    page = Client().get(path, {"language": language}).content.decode()
    assert f'<html lang="{language}"' in page
    title = "Notification settings"
    assert (title in page) is (language == "en")


def test_the_language_is_the_recipients_then_the_browsers(path: str, maria: Recipient) -> None:
    browser = {"Accept-Language": "xx, fr-CH;q=0.8, en;q=0.5"}
    assert 'lang="pt-BR"' in Client().get(path, headers=browser).content.decode()
    maria.locale = "ja"
    maria.save()
    assert '<html lang="fr"' in Client().get(path, headers=browser).content.decode()


def test_the_headers_protect_the_link(path: str) -> None:
    answer = Client().get(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert "Set-Cookie" not in answer.headers
    page = answer.content.decode()
    assert "<script" not in page
    assert "maria@example.com" not in page


def test_names_of_operators_are_escaped(path: str) -> None:
    TopicText.objects.create(topic="social", locale="pt-BR", name="<script>alert(1)</script>")
    topic_texts.forget()
    page = Client().get(path).content.decode()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_an_expired_link_tells_how_to_get_another(maria: Recipient) -> None:
    old = clock.now() - 2 * preference_links.LIFETIME
    expired = preference_links.PATH + preference_links.token_of(maria.pk, now=old)
    for answer in (Client().get(expired), _post(expired, {"drawn": "/sms/1"})):
        assert answer.status_code == 410
        assert "newer message" in answer.content.decode()
    assert Client().get("/preferences/x.y").status_code == 404
    assert not Preference.objects.exists()


def test_a_recipient_token_opens_the_page(caller: Caller, maria: Recipient) -> None:
    paths = {
        scopes: "/preferences/"
        + caller.post(
            f"/v1/recipients/{maria.user_id}/client-tokens", {"scopes": list(scopes)}
        ).json()["token"]
        for scopes in (("preferences:read", "preferences:write"), ("preferences:read",))
    }
    whole, reader = paths.values()
    fields = _fields(Client().get(whole))
    fields["on"].remove("social/sms")
    assert _post(whole, fields).status_code == 200
    assert Preference.objects.get().topics_off == {"sms": ["social"]}
    assert Client().get(reader).status_code == 404
    assert Client().get(f"{whole}x").status_code == 404


def test_many_requests_of_a_recipient_are_refused(
    path: str, maria: Recipient, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However slow the machine is, nothing is paid off during a test.
    monkeypatch.setattr(address_limits, "_price", lambda _rate: 3_600_000_000.0)
    while not address_limits.take(Bucket.RECIPIENT, str(maria.pk)):
        pass
    answer = Client().get(path)
    address_limits.forget()
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")


def test_without_the_database_the_page_asks_to_come_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = _fields(Client().get(path))

    def away(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(preference_changes, "change", away)
    answer = _post(path, fields | {"on": []})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")


def test_an_erasure_during_the_change_is_a_link_that_does_not_work(
    path: str, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = preference_changes.change

    def too_late(recipient: Recipient, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - of `change`
        Recipient.objects.filter(pk=recipient.pk).delete()
        return change(recipient, *args, **options)

    monkeypatch.setattr(preference_changes, "change", too_late)
    assert _post(path, {"drawn": "/sms/1"}).status_code == 404
    Recipient.objects.create(mode=caller.mode, user_id="maria")
    answer = caller.send("PATCH", "/v1/recipients/maria/preferences", {"locale": "de"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "unknown recipient")
    assert not Preference.objects.exists()


def test_the_unsubscribe_page_leads_to_the_preference_page(maria: Recipient) -> None:
    link = unsubscribe_links.Link(recipient_id=maria.pk, channel=Channel.EMAIL, topic="social")
    page = (
        Client()
        .get(f"/unsubscribe/{unsubscribe_links.token_of(link, now=clock.now())}")
        .content.decode()
    )
    there = _one(r'href="(/preferences/[^"]+)"', page)
    assert Client().get(there).status_code == 200


def test_a_digest_is_chosen_on_the_page(path: str) -> None:
    NotificationType.objects.filter(name="LIKE").update(digest_template="likes")
    notification_types.forget()
    fields = _fields(Client().get(path))
    assert fields["digest"] == ["social/at_once"]
    _post(path, fields)
    assert not Preference.objects.exists()
    _post(path, {**fields, "digest": ["social/weekly"]})
    assert Preference.objects.get().digests == {"social": "weekly"}
    fields = _fields(Client().get(path))
    assert fields["digest"] == ["social/weekly"]
    _post(path, {**fields, "digest": ["social/hourly", "marketing/daily", "///", "daily"]})
    assert Preference.objects.get().digests == {"social": "weekly"}


@pytest.mark.parametrize("token", ["expired", "broken"])
def test_the_pages_of_a_bad_link_are_those_of_the_unsubscribe_page(
    maria: Recipient, token: str
) -> None:
    old = clock.now() - max(unsubscribe_links.LIFETIME, preference_links.LIFETIME) * 2
    link = unsubscribe_links.Link(recipient_id=maria.pk, channel=Channel.EMAIL, topic="social")
    tokens = {
        "expired": (
            unsubscribe_links.token_of(link, now=old),
            preference_links.token_of(maria.pk, now=old),
        ),
        "broken": ("nonsense", "nonsense"),
    }
    answers = [
        Client().get(path + each)
        for path, each in zip(("/unsubscribe/", preference_links.PATH), tokens[token], strict=True)
    ]
    assert {each.status_code for each in answers} == {410 if token == "expired" else 404}
    assert len({each.content for each in answers}) == 1
