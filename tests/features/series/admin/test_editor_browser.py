"""A person makes a series in a real browser, by mouse and keyboard, and watches the recipients."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given, settings
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from notifications.features.series import versions
from notifications.features.series.models import Series
from notifications.features.series.rules import definition
from tests.admin import axe
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser, write
from tests.browser_wait import wait_until
from tests.features.series.admin.definitions import definitions
from tests.features.series.conftest import MakeSeries, enrol, make, post, send, sweep_once
from tests.journey import Reach, caller, reach

__all__ = ["caller", "make", "reach"]

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]

_DRAW: Final = """
    const [definition, touches, module, done] = arguments;
    import(module).then(({ Steps, unreadable }) => {
        const place = document.createElement("div");
        document.body.append(place);
        const data = JSON.parse(document.getElementById("series-data").textContent);
        const steps = new Steps(place, data, () => {});
        const reason = unreadable(definition);
        if (reason) return done(reason);
        steps.show(definition);
        if (touches) for (const each of place.querySelectorAll("input, textarea")) {
            if (each.type !== "checkbox") each.dispatchEvent(new Event("input", { bubbles: true }));
        }
        place.remove();
        done(definition);
    }).catch((error) => done(String(error)));
"""
"""Draws the forms of a definition, and returns the definition. `touches`: each text box writes its
text once more."""


def field(pointer: str, tag: str = "input") -> str:
    return f"[data-at='{pointer}'] > {tag}"


def press(browser: Browser, selector: str) -> None:
    browser.see(selector).send_keys(Keys.ENTER)


def add(browser: Browser, kind: str, *, to: str = "/steps") -> None:
    press(browser, f"[data-list='{to}'] [data-add={kind}]")


def message(browser: Browser, pointer: str, *, to: str) -> None:
    """Add a message with the template and the type of the tests."""
    add(browser, "send", to=to)
    write(browser, field(f"{pointer}/template_id"), "hello")
    write(browser, field(f"{pointer}/type"), "LIKE")


def editor_of(series: Series) -> str:
    return f"notifications/series/{series.pk}/editor"


def test_a_series_is_made_published_and_watched(
    browser: Browser, make: MakeSeries, reach: Reach
) -> None:
    other = make(send("x"), name="other")
    browser.open("notifications/series/add/")
    Select(browser.see("[name=producer]")).select_by_value(other.producer.name)
    Select(browser.see("[name=mode]")).select_by_value(str(other.mode))
    write(browser, "[name=name]", "tour")
    message(browser, "/steps/0", to="/steps")
    add(browser, "wait")
    correct_a_fault(browser)
    write(browser, field("/steps/1/days"), "1")
    add(browser, "condition")
    message(browser, "/steps/2/then/0", to="/steps/2/then")
    message(browser, "/steps/2/else/0", to="/steps/2/else")
    add(browser, "exit")
    browser.click("[data-step='/steps/3'] [data-act=remove]")
    browser.click("[data-at='/goal'] > label > input")
    write(browser, field("/goal/event"), "order_paid")
    browser.wait_for("#part-picture", "Goal: the event order_paid ends the series")
    browser.see(field("/goal/event")).send_keys(Keys.CONTROL, "s")
    wait_until(browser.chrome, lambda: "/editor" in browser.chrome.current_url)
    assert_that_the_draft_is_as_typed()
    browser.click("[value=publish]")
    press(browser, "#steer button")
    browser.wait_for("#steps", "Wait 1 day.")
    watch(browser, Series.objects.get(name="tour"), reach)
    assert browser.errors() == []


def correct_a_fault(browser: Browser) -> None:
    """Type a wait that is too long, be refused, and move the step with the typed text."""
    write(browser, field("/steps/1/days"), "400")
    browser.wait_for("[data-at='/steps/1/days'] .nc-bad", "a wait takes at most 366 days")
    browser.click("[value=save]")
    browser.wait_for("#told", "Not saved.")
    browser.wait_for("#series-faults", "Step 2, Days: a wait takes at most 366 days")
    browser.wait_for("#series-old", "The picture follows when the steps are complete")
    assert not Series.objects.filter(name="tour").exists()
    press(browser, "[data-step='/steps/1'] [data-act=up]")
    assert browser.see(field("/steps/0/days")).get_attribute("value") == "400"
    focused = browser.chrome.switch_to.active_element
    assert focused.get_attribute("aria-label") == "Move step 1 down"
    focused.send_keys(Keys.ALT, Keys.ARROW_DOWN)


def assert_that_the_draft_is_as_typed() -> None:
    made = Series.objects.get(name="tour")
    hello = {"step": "send", "type": "LIKE", "template_id": "hello"}
    draft = versions.draft_of(made)
    assert draft is not None
    assert draft.definition == {
        "goal": {"event": "order_paid"},
        "steps": [
            {**hello, "name": "message-1"},
            {"step": "wait", "days": 1},
            {
                "step": "condition",
                "if": {"message": "message-1", "status": "read"},
                "then": [{**hello, "name": "message-2"}],
                "else": [{**hello, "name": "message-3"}],
            },
        ],
    }


def watch(browser: Browser, series: Series, reach: Reach) -> None:
    """Enrol three recipients, of whom one reaches the goal, and see the numbers of the picture."""
    people = ("ana", "eva", "rui")
    for name in people:
        reach(name, email=f"{name}@sandbox.example")
    enrol(series, *people)
    browser.wait_for("[data-step='1'] .nc-series-counts", "3 here")
    sweep_once()
    browser.wait_for("[data-step='2'] .nc-series-counts", "3 here")
    post("order_paid", "ana")
    for _ in range(2):  # an event wakes an enrolment, and the next sweep continues the enrolment
        sweep_once()
    browser.wait_for("[data-step='2'] .nc-series-counts", "1 left by the goal")
    browser.wait_for("[data-step='2'] .nc-series-counts", "2 here")


def test_conditions_properties_and_names_are_edited(browser: Browser, make: MakeSeries) -> None:
    series = make(
        send("welcome"),
        {"step": "condition", "if": {"message": "welcome", "status": "read"}, "then": []},
    )
    browser.open(editor_of(series))
    write(browser, field("/steps/0/name"), "hello")
    Select(browser.see(field("/steps/1/if", "select"))).select_by_value("and")
    press(browser, "[data-condition='/steps/1/if'] > button")
    write(browser, field("/steps/1/if/and/1/event"), "order_paid")
    press(browser, "[data-at='/steps/1/if/and/1/where'] > button")
    write(browser, "[aria-label='Name of property 1']", "amount")
    Select(browser.see("[aria-label='Kind of property 1']")).select_by_value("number")
    write(browser, "[aria-label='Value of property 1']", "five")
    browser.click("[value=save]")
    browser.wait_for("#told", "Not saved: a property is not a number.")
    write(browser, "[aria-label='Value of property 1']", "5.5")
    browser.click("[value=save]")
    browser.wait_for("#told", "is saved")
    draft = versions.draft_of(series)
    assert draft is not None
    assert draft.definition["steps"][1]["if"] == {
        "and": [
            {"message": "hello", "status": "read"},
            {"event": "order_paid", "where": {"amount": 5.5}},
        ]
    }
    assert browser.errors() == []


def test_a_step_moves_into_a_branch_and_out(browser: Browser, make: MakeSeries) -> None:
    branch = {"step": "condition", "if": {"event": "x"}}
    series = make(send("welcome"), {"step": "wait", "days": 1}, branch)
    browser.open(editor_of(series))
    browser.click("[data-step='/steps/1'] summary")
    Select(browser.see("[aria-label='List for step 2']")).select_by_visible_text("Else of step 3")
    browser.click("[data-step='/steps/1'] .nc-series-mover button")
    browser.wait_for("[data-step='/steps/1/else/0'] legend", "2 else 1. Wait")
    browser.click("[value=save]")
    browser.wait_for("#told", "is saved")
    draft = versions.draft_of(series)
    assert draft is not None
    moved = branch | {"else": [{"step": "wait", "days": 1}]}
    assert draft.definition == {"steps": [send("welcome"), moved]}
    browser.click("[data-step='/steps/1/else/0'] .nc-series-mover button")
    browser.wait_for("[data-step='/steps/2'] legend", "3. Wait")
    press(browser, "[data-step='/steps/1'] [data-act=remove]")
    browser.wait_for("[data-step='/steps/1'] legend", "2. Wait")
    press(browser, "[data-act=undo]")
    browser.wait_for("[data-step='/steps/1'] legend", "2. Branch")


def test_a_refused_save_keeps_the_steps(browser: Browser, make: MakeSeries) -> None:
    series = make(send("welcome"), {"step": "wait", "days": 1})
    browser.open(editor_of(series))
    write(browser, field("/steps/1/days"), "5")
    versions.save_draft(series, {"steps": [send("theirs")]})
    browser.click("[value=save]")
    browser.wait_for("#series-faults", "Somebody else has changed the draft")
    browser.click("[value=save]")
    browser.wait_for("#told", "is saved")
    write(browser, field("/steps/1/days"), "6")
    browser.chrome.delete_all_cookies()
    browser.click("[value=save]")
    browser.wait_for("#told", "The session has ended.")
    assert browser.see(field("/steps/1/days")).get_attribute("value") == "6"
    draft = versions.draft_of(series)
    assert draft is not None
    assert draft.definition["steps"][1]["days"] == 5


def test_json_stays_for_whoever_wants_it(browser: Browser, make: MakeSeries) -> None:
    series = make(send("welcome"))
    browser.open(editor_of(series))
    browser.click("[data-tab=json]")
    write(browser, "[name=definition]", '{"steps": [{"step": "nap"}]}')
    browser.click("[data-tab=forms]")
    browser.wait_for("#series-unreadable", "/steps/0 is not a step of a known kind.")
    goal = '{"event": "a", "where": {"b": 12345678901234567890}}'
    large = f'{{"steps": [{{"step": "exit"}}], "goal": {goal}}}'
    write(browser, "[name=definition]", large)
    browser.click("[data-tab=forms]")
    browser.wait_for("#series-unreadable", "more digits than the forms keep")
    write(browser, "[name=definition]", '{"steps": [{"step": "exit", "reason": "late"}]}')
    browser.click("[data-tab=forms]")
    assert browser.see(field("/steps/0/reason")).get_attribute("value") == "late"
    browser.click("[value=save]")
    browser.wait_for("#told", "is saved")
    draft = versions.draft_of(series)
    assert draft is not None
    assert draft.definition == {"steps": [{"step": "exit", "reason": "late"}]}


def test_the_forms_change_nothing_by_themselves(browser: Browser, make: MakeSeries) -> None:
    browser.open(editor_of(make(send("welcome"))))
    source = browser.see("script[src*='series/editor']").get_attribute("src")
    assert source is not None
    module = source.replace("editor", "steps")

    @settings(max_examples=80, deadline=None)
    @given(definitions())
    def both(content: dict[str, Any]) -> None:
        chrome = browser.chrome
        assert chrome.execute_async_script(_DRAW, content, "", module) == content
        touched = chrome.execute_async_script(_DRAW, content, "touch", module)
        assert definition.parse(touched) == definition.parse(content)

    both()
    assert browser.errors() == []


@pytest.mark.skipif(not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe")
def test_the_editor_and_the_picture_suit_every_reader(
    browser: Browser, make: MakeSeries, reach: Reach
) -> None:
    reach("ana", email="ana@sandbox.example")
    wait = {"step": "wait", "days": 1, "until_event": {"event": "paid", "where": {"plan": "pro"}}}
    inner = {"step": "condition", "if": {"event": "x"}, "then": [{"step": "exit"}]}
    asked = {"or": [{"message": "welcome", "status": "read"}, {"not": {"event": "left"}}]}
    branch = {
        "step": "condition",
        "if": asked,
        "then": [send("tips"), inner],
        "else": [send("again")],
    }
    series = make(send("welcome"), wait, branch, goal={"event": "order_paid"})
    enrol(series, "ana")
    sweep_once()
    faulty = [send("welcome", template_id="none", variables={"a": 1}), wait, branch]
    versions.save_draft(series, {"steps": faulty, "trigger": {"event": "signed_up"}})
    pages = {
        "series": f"notifications/series/{series.pk}/change/",
        "series-editor": editor_of(series),
        "series-new": "notifications/series/add/",
    }
    found: dict[str, list[str]] = {}
    for name, path in pages.items():
        browser.open(path)
        for look in axe.looks(browser.chrome):
            if name == "series-editor":
                browser.wait_for("#series-faults", "no published template")
            found[f"{name}-{look}"] = axe.violations(browser.chrome, name=f"{name}-{look}")
            if axe.scrolls_sideways(browser.chrome):
                found[f"{name}-{look}"].append("the page scrolls sideways")
    assert [f"{name}: {each}" for name, faults in found.items() for each in faults] == []
