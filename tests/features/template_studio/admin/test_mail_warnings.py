"""The editor and the page before a publish warn about a mail, and refuse nothing."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.models import NotificationType, Template
from notifications.core.rules.lane import Priority
from notifications.core.rules.templates import contents
from notifications.core.store.cached import notification_types
from notifications.core.store.templates import versions
from providers.contract import Channel
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser, write
from tests.admin.confirming import confirm
from tests.figures.conftest import MakeRollup

SHORT = '<p style="color: #aaa">Hello <a href="https://bit.ly/x">you</a></p>'
NO_LINK = "The text shows no unsubscribe link, and types of priority P3 use it: sale."


def draft(source: str = SHORT, *, title: str = "BUY EVERYTHING NOW") -> Template:
    mail = contents.words(Channel.EMAIL, "en", title=title, html=source)
    return versions.draft("sale", contents.content([mail]), by="ana")


def page(version: Template, name: str) -> str:
    return f"/admin/notifications/template/{version.pk}/{name}/"


def shown(door: Client, version: Template, name: str) -> str:
    return html.unescape(door.get(page(version, name)).content.decode())


@pytest.fixture
def used_by_sale(make_rollup: MakeRollup) -> None:
    """The type `sale` of priority P3 sent the mail an hour ago."""
    NotificationType.objects.create(name="sale", priority=Priority.P3)
    notification_types.every.forget()
    make_rollup(clock.now(), {"accepted": 7}, channel=Channel.EMAIL, type="sale", template="sale")


def test_both_pages_show_the_warnings_and_the_mail_is_published(door: Client) -> None:
    version = draft()
    for name, before in (("editor", '<p class="nc-warn">'), ("publish", "Check: email en: ")):
        text = shown(door, version, name)
        assert f"{before}The subject is in capitals" in text
        assert f"{before}Text is hard to read: #aaaaaa on #ffffff" in text
        assert f"{before}Links of bit.ly hide their target" in text
    confirm(door, page(version, "publish"))
    version.refresh_from_db()
    assert version.published_at is not None


@pytest.mark.usefixtures("used_by_sale")
def test_a_mail_of_a_p3_type_needs_an_unsubscribe_link(door: Client) -> None:
    assert NO_LINK in shown(door, draft(), "editor")
    assert NO_LINK in shown(door, draft(), "publish")
    mended = draft(SHORT + '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>')
    assert "no unsubscribe link" not in shown(door, mended, "editor")
    assert "no unsubscribe link" not in shown(door, mended, "publish")
    NotificationType.objects.filter(name="sale").update(is_mandatory=True)
    notification_types.every.forget()
    assert "no unsubscribe link" not in shown(door, draft(), "publish")


def test_a_mail_without_a_use_is_asked_about_before_the_publish(door: Client) -> None:
    version = draft()
    assert "if a type of priority P3 will use it" in shown(door, version, "publish")
    assert "if a type of priority P3 will use it" not in shown(door, version, "editor")


needs_browser = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@needs_browser
@pytest.mark.django_db(transaction=True)
def test_a_warning_comes_and_goes_while_the_author_types(browser: Browser) -> None:
    version = draft("<p>Hello</p>", title="Hello")
    browser.open(f"notifications/template/{version.pk}/editor")
    browser.wait_for_in_frame(".nc-frame iframe", ".page", "Hello")
    write(browser, "[name=email-title]", "HELLO EVERYBODY")
    browser.wait_for("[data-channel=email] .nc-warn", "The subject is in capitals")
    write(browser, "[name=email-title]", "Hello")
    write(browser, "[name=email-html]", "<p style='color: #ccc'>Hello</p>")
    browser.wait_for("[data-channel=email] .nc-warn", "#cccccc on #ffffff")
    assert browser.errors() == []


@needs_browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
@pytest.mark.parametrize("name", ["editor", "publish"])
def test_the_warnings_follow_wcag_at_each_size(browser: Browser, name: str) -> None:
    browser.open(f"notifications/template/{draft().pk}/{name}")
    found: list[str] = []
    for look in axe.looks(browser.chrome):
        browser.wait_for(".nc-warn", "in capitals")
        found += axe.violations(browser.chrome, name=f"mail-warnings-{name}-{look}")
        assert not axe.scrolls_sideways(browser.chrome), look
    assert found == []
