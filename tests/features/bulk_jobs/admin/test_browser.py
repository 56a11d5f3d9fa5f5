# ruff: noqa: F811 - each test asks for the imported fixture `browser` by name
"""A bulk job is composed by keyboard and watched in a real browser; the pages suit all readers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from notifications.core.models import Attribute, Audience, BulkJob, BulkJobRange, Topic
from notifications.core.rules.templates import one_off
from tests.admin import axe
from tests.admin.chromium import (
    Browser,
    write,
)
from tests.browser_wait import wait_until
from tests.features.bulk_jobs.admin.test_bulk_jobs import job  # noqa: F401 - the fixture

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("chromium") and shutil.which("chromedriver")),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def until(browser: Browser, holds: Callable[[], bool]) -> None:
    wait_until(browser.chrome, holds)


def press(browser: Browser, text: str) -> None:
    """Press the builder's button with the text."""
    found = f"//div[@id='audience-builder']//button[.='{text}']"
    browser.chrome.find_element(By.XPATH, found).send_keys(Keys.ENTER)


def expression(browser: Browser) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(str(browser.see("[name=audience]").get_property("value")))


def begin(browser: Browser) -> None:
    """Open the composer, press "Send" too early, and make the choices that have no preset."""
    browser.open("notifications/bulkjob/add/")
    browser.wait_for("#audience-builder", "Nobody is chosen yet.")
    assert browser.see("[name=audience]").get_property("value") == ""
    press(browser, "Everyone")
    browser.wait_for("#part-audience", "3 recipients")
    write(browser, "[name=name]", "Winter sale")
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#id_producer_error", "Choose the producer.")
    error, field = browser.see("#id_producer_error").rect, browser.see("[name=producer]").rect
    assert error["y"] >= field["y"] + field["height"]
    assert expression(browser) == {"everyone": True}
    Select(browser.see("[name=producer]")).select_by_visible_text("shop")


def choose(browser: Browser, field: str, value: str) -> None:
    Select(browser.see(f"[name={field}]")).select_by_value(value)


def channels(browser: Browser) -> list[str]:
    """Return the chosen channels in order."""
    found = browser.chrome.find_elements(By.CSS_SELECTOR, "select[name=channels]")
    return [value for each in found if (value := str(each.get_property("value")))]


def confirm(browser: Browser) -> None:
    """Go to the page of confirmation, back to the draft, and send the draft."""
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#confirm", "Send Winter sale to 3 recipients?")
    browser.see("[value=check]").send_keys(Keys.ENTER)
    browser.wait_for("#part-summary", "Monday 25 November 2030 09:00 on each recipient's clock")
    assert expression(browser) == {"not": {"attribute": "plan", "is": "pro"}}
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#confirm", "shop")
    browser.see("[value=confirmed]").send_keys(Keys.ENTER)


def write_variables(browser: Browser, text: str) -> None:
    """Write the JSON of the variables."""
    browser.chrome.execute_script(
        "const field = document.forms.composer.elements.variables; field.value = arguments[0];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))",
        text,
    )


def write_text(browser: Browser) -> None:
    """Write the text of the job, with a row of a variable, and reload the page."""
    choose(browser, "text_from", "written")
    text = browser.see("[name=text_1_sms]")
    until(browser, text.is_displayed)
    text.send_keys("Closed on Monday")
    browser.wait_for("#part-previews", "Closed on Monday")
    text.send_keys("{% for day in days %}, {{ day.name }}{% endfor %}")
    browser.see("[aria-label='Add a row of days']").send_keys(Keys.ENTER)
    browser.see("[aria-label='days, row 1, name']").send_keys("25 November")
    browser.wait_for("#part-previews", "Closed on Monday, 25 November")
    browser.chrome.refresh()
    browser.wait_for("#part-previews", "Closed on Monday, 25 November")


@pytest.mark.usefixtures("draft")
def test_a_bulk_job_is_composed_survives_a_reload_and_is_sent(browser: Browser) -> None:
    Attribute.objects.create(name="plan", kind="text", created_by="maria")
    begin(browser)
    choose(browser, "type", "PROMO")
    choose(browser, "template_id", "winter_sale")
    browser.wait_for("#part-summary", "Variables: name: the template needs this variable")
    write_variables(browser, '{"order": 12345678901234567890}')
    assert browser.see("#variable-boxes div").get_property("inert")
    write_variables(browser, "")
    browser.see("#variable-boxes input[data-variable=name]").send_keys("Maria")
    browser.wait_for("#part-previews", "Hello Maria")
    assert json.loads(str(browser.see("[name=variables]").get_property("value"))) == {
        "name": "Maria"
    }
    browser.see("#audience-builder select[aria-label=Condition]").send_keys("attribute")
    browser.see("#audience-builder input[aria-label=Value]").send_keys("pro")
    browser.wait_for("#part-audience", "0 recipients")
    assert expression(browser) == {"attribute": "plan", "is": "pro"}
    Select(browser.see("select[aria-label='Take or leave out']")).select_by_value("not")
    browser.wait_for("#part-audience", "3 recipients")
    choose(browser, "start", "local")
    browser.chrome.execute_script(
        "const at = document.forms.composer.elements.at; at.value = '2030-11-25T09:00';"
        "at.dispatchEvent(new Event('input', {bubbles: true}))"
    )
    browser.wait_for("#part-summary", "Monday 25 November 2030 09:00 on each recipient's clock")
    browser.chrome.refresh()
    browser.wait_for("#part-summary", "Monday 25 November 2030 09:00 on each recipient's clock")
    assert expression(browser) == {"not": {"attribute": "plan", "is": "pro"}}
    write_text(browser)
    confirm(browser)
    browser.wait_for("#facts", "on each recipient's clock")
    made = BulkJob.objects.get()
    assert made.audience == {"not": {"attribute": "plan", "is": "pro"}}
    assert made.send_at_local == "2030-11-25T09:00"
    assert made.template_id == one_off.name_of(made.pk)
    assert browser.errors() == []


@pytest.mark.usefixtures("draft")
def test_channels_are_chosen_in_order_and_survive_a_reload(browser: Browser) -> None:
    browser.open("notifications/bulkjob/add/")
    browser.see("#audience-builder button")
    for label in ("email", "push"):
        found = browser.chrome.find_elements(By.CSS_SELECTOR, "select[name=channels]")
        shown = [each for each in found if each.is_displayed()]
        shown[-1].send_keys(
            label
        )  # by keyboard: chromedriver's click on an option sends no `input`
    assert channels(browser) == ["email", "push"]
    browser.chrome.refresh()
    browser.see("#audience-builder button")
    assert channels(browser) == ["email", "push"]
    assert browser.errors() == []


@pytest.mark.usefixtures("draft")
def test_a_topic_is_found_by_typing_and_a_fault_stands_beside_its_condition(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notifications.core.admin.names.MOST", 1)
    for name in ("first", "other"):
        Topic.objects.create(name=name)
    browser.open("notifications/bulkjob/add/")
    browser.see("#audience-builder")
    press(browser, "Everyone")
    press(browser, "Add a condition")
    conditions = browser.chrome.find_elements(By.CSS_SELECTOR, "select[aria-label=Condition]")
    assert len(conditions) == 2
    Select(conditions[1]).select_by_value("topic")
    browser.see("#audience-builder input[aria-label=Topic]").send_keys("OTH")
    browser.see("#audience-topics option[value=other]")
    write(browser, "#audience-builder input[aria-label=Topic]", "none")
    browser.wait_for("#audience-builder li:nth-child(2) [role=alert]", "unknown topic none")
    assert expression(browser) == {"and": [{"everyone": True}, {"topic": "none"}]}
    errors = [line for line in browser.errors() if "422" not in line]
    assert errors == []


def test_the_figures_refresh_and_the_focus_stays(browser: Browser, job: BulkJob) -> None:
    browser.open(f"notifications/bulkjob/{job.pk}/change/")
    pause = browser.see("#pause")
    browser.chrome.execute_script("arguments[0].focus()", pause)
    BulkJobRange.objects.filter(job=job).update(examined=2_500_000)
    browser.wait_for("#progress", "2,500,000 of about 5,000,000")
    assert browser.chrome.switch_to.active_element == pause
    pause.send_keys(Keys.ENTER)
    browser.see("[name=reason]").send_keys("wrong price", Keys.ENTER)
    browser.wait_for("#history", "wrong price")
    browser.see("#resume")
    assert browser.errors() == []


_MAIL = "[name=text_1_mail]"


def insert(browser: Browser, label: str, typed: str) -> None:
    """Insert a block by keyboard, and type over the block, which is then selected."""
    tools = "Insert a block into E-mail: text, the default language"
    found = f"//div[@aria-label='{tools}']/button[.='{label}']"
    browser.chrome.find_element(By.XPATH, found).send_keys(Keys.ENTER)
    if typed:
        browser.see(_MAIL).send_keys(typed)


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
@pytest.mark.usefixtures("draft")
def test_the_mail_of_a_job_is_made_of_blocks_by_keyboard(browser: Browser) -> None:
    begin(browser)
    choose(browser, "text_from", "written")
    until(browser, browser.see(_MAIL).is_displayed)
    insert(browser, "Heading", "# Winter sale")
    insert(browser, "Columns", "")
    insert(browser, "Button", "::: button [Shop](https://shop.example)")
    blocks = ".nc-blocks [data-act=select]"
    labels = [each.text for each in browser.chrome.find_elements(By.CSS_SELECTOR, blocks)]
    assert labels == ["heading: Winter sale", "columns: Left", "button: Shop"]
    browser.see(".nc-blocks li:nth-child(3) [data-act=select]").send_keys(Keys.ALT, Keys.ARROW_UP)
    browser.wait_for(".nc-blocks li:nth-child(2)", "button: Shop")
    browser.see(".nc-blocks li:nth-child(3) [data-act=remove]").send_keys(Keys.ENTER)
    assert browser.see(_MAIL).get_property("value") == (
        "# Winter sale\n\n::: button [Shop](https://shop.example)"
    )
    browser.wait_for_in_frame("#part-previews iframe", "td.sheet", "Winter sale")
    browser.chrome.refresh()
    browser.wait_for(".nc-blocks li:nth-child(2)", "button: Shop")
    found: list[str] = []
    for look in axe.looks(browser.chrome):
        browser.wait_for(".nc-blocks li:nth-child(2)", "button: Shop")
        browser.wait_for("#part-audience", "recipients")
        found += axe.violations(browser.chrome, name=f"compose-blocks-{look}")
        assert not axe.scrolls_sideways(browser.chrome), look
    assert found == []


def fill(browser: Browser, draft: dict[str, Any], **given: str) -> None:
    """Open the composer with a draft in the fragment, as a colleague's link has it."""
    values = {name: str(value) for name, value in draft.items() if name not in {"seen", "pace"}}
    fragment = urlencode({**values, "start": "now", **given})
    browser.open(f"notifications/bulkjob/add/#{fragment}")
    browser.wait_for("#part-cost", "Dry run")


def test_two_clicks_send_one_job_and_the_way_back_says_so(
    browser: Browser, draft: dict[str, Any]
) -> None:
    fill(browser, draft)
    address = browser.chrome.current_url
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#confirm", "Winter sale")
    ActionChains(browser.chrome).double_click(browser.see("[value=confirmed]")).perform()
    browser.wait_for("#facts", "PROMO")
    assert BulkJob.objects.count() == 1
    browser.chrome.get("about:blank")
    browser.chrome.get(address)
    browser.wait_for("#part-summary", "This draft was sent")
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#facts", "PROMO")
    assert BulkJob.objects.count() == 1
    assert browser.errors() == []


def test_an_ended_session_loses_no_draft(browser: Browser, draft: dict[str, Any]) -> None:
    fill(browser, draft)
    cookies = browser.chrome.get_cookies()
    browser.chrome.delete_all_cookies()
    browser.see("[name=name]").send_keys(" 2")
    browser.wait_for("#told", "Your session has ended.")
    browser.see("[value=send]").send_keys(Keys.ENTER)
    until(browser, lambda: not browser.chrome.find_elements(By.ID, "composer"))
    assert not BulkJob.objects.exists()
    for cookie in cookies:
        browser.chrome.add_cookie(cookie)
    browser.open("notifications/bulkjob/add/")
    browser.see("#told + button").send_keys(Keys.ENTER)
    browser.wait_for("#part-cost", "Dry run")
    assert browser.see("[name=name]").get_property("value") == "Winter sale 2"


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
@pytest.mark.usefixtures("draft")
def test_the_pages_suit_every_reader_at_each_size(browser: Browser, job: BulkJob) -> None:
    Attribute.objects.create(name="plan", kind="text", created_by="maria")
    rows = {
        "and": [
            {"attribute": "plan", "in": ["pro", "team"]},
            {"attribute": "created_at", "after": {"days_ago": 30}},
            {"not": {"received": {"type": "PROMO", "within_days": 7}}},
            {"or": [{"reachable": "push"}, {"user_ids": ["u_0"]}]},
        ]
    }
    audience = Audience.objects.create(
        name="active pros", expression=rows, created_by="maria", changed_by="maria"
    )
    pages = {
        "bulk-jobs": "notifications/bulkjob/",
        "bulk-jobs-calendar": "notifications/bulkjob/calendar/",
        "bulk-job": f"notifications/bulkjob/{job.pk}/change/",
        "bulk-job-cancel": f"notifications/bulkjob/{job.pk}/cancel/",
        "composer-new": "notifications/bulkjob/add/",
        "composer": "notifications/bulkjob/add/?name=Winter+sale&type=PROMO"
        "&template_id=winter_sale&saved=active+pros",
        "audience": f"notifications/audience/{audience.pk}/change/",
    }
    found: dict[str, list[str]] = {}
    for name, path in pages.items():
        browser.open(path)
        for look in axe.looks(browser.chrome):
            if name in {"composer", "audience"}:
                browser.wait_for("#part-audience", "recipients")
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert [f"{name}: {each}" for name, faults in found.items() for each in faults] == []


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_page_of_confirmation_suits_every_reader_at_each_size(
    browser: Browser, draft: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("notifications.features.bulk_jobs.admin.compose_draft.LARGE", 2)
    fill(browser, draft)
    browser.see("[value=send]").send_keys(Keys.ENTER)
    browser.wait_for("#confirm", "more than 2 recipients")
    found: list[str] = []
    for look in axe.looks(browser.chrome):
        browser.wait_for("#confirm", "more than 2 recipients")
        found += axe.violations(browser.chrome, name=f"compose-confirm-{look}")
        assert not axe.scrolls_sideways(browser.chrome), look
    assert found == []
