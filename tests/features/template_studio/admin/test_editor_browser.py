"""The editor in a real browser: previews while typing, and a preview that runs no script."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from notifications.core.models import Notification, Template, TemplateText
from providers.contract import Channel
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser, write

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def test_a_mails_html_is_shown_and_its_scripts_are_not_run(browser: Browser) -> None:
    template = Template.objects.create(template_id="hello")
    TemplateText.objects.create(
        template=template,
        channel=Channel.EMAIL,
        title="Hi",
        body="Hello",
        html="<p id=hello>Hello</p><img src=none: onerror=\"document.body.textContent = 'ran'\">",
    )
    browser.open(f"notifications/template/{template.pk}/editor")
    browser.wait_for_in_frame("iframe[sandbox]", "#hello", "Hello")


def test_a_template_is_written_beside_its_screens_and_published(browser: Browser) -> None:
    template = Template.objects.create(template_id="hello")
    for channel in (Channel.PUSH, Channel.SMS):
        TemplateText.objects.create(template=template, channel=channel, title="Hi", body="Hello")
    browser.open(f"notifications/template/{template.pk}/editor")
    write(browser, "[name=push-body]", "Good morning {{ name }}")
    write(browser, "[data-sample=name]", "Maria")
    browser.wait_for(".nc-push", "Good morning Maria")
    write(browser, "[name=sms-body]", "{{ absent }}")
    browser.wait_for("[data-channel=sms] .nc-bad", "the variable 'absent' is missing")
    write(browser, "[name=sms-body]", "{{ name }}, good morning")
    browser.wait_for(".nc-bubble", "Maria, good morning")
    browser.wait_for("#told", "Not saved yet")
    browser.see("[name=sms-body]").send_keys(Keys.CONTROL, "s")
    browser.wait_for("#told", "Saved.")
    browser.click("[data-channel=sms] [value=send]")
    browser.wait_for("[data-channel=sms] .nc-told", "Sent to the sandbox.")
    write(browser, "form.nc-bar-form [name=variant]", "b")
    browser.click("form.nc-bar-form button")
    write(browser, "[name=push-title]", "Last day")
    browser.wait_for(".nc-push strong", "Last day")
    browser.wait_for(".nc-push", "Good morning Maria")
    browser.see("[name=push-title]").send_keys(Keys.CONTROL, "s")
    browser.wait_for("#told", "Saved.")
    browser.click("#editor a[href*='/publish']")
    browser.click("#content form button[type=submit]")
    browser.see("a[href*='/draft']")
    template.refresh_from_db()
    assert template.published_by == "operator"
    stored = template.texts.exclude(variant="").values_list("variant", "title", "body")
    assert list(stored) == [("b", "Last day", "")]
    sent = {"title": "", "body": "Maria, good morning", "html": ""}
    assert Notification.objects.get().content == sent
    assert browser.errors() == []
