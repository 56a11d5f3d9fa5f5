"""The pages of messages in a real browser: WCAG by axe-core, phone and desktop, light and dark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.postgres.functions import TransactionNow
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import DeadLetter, Delivery, Template, TemplateText
from notifications.core.operations import replay
from notifications.core.rules.dead_letter_filter import LetterFilter
from notifications.core.rules.states import Status
from providers.contract import Channel
from tests.admin import axe
from tests.admin.chromium import Browser
from tests.admin.conftest import MakeDelivery
from tests.admin.test_browser import pytestmark  # noqa: F401 - a mark

needs_axe = pytest.mark.skipif(
    not axe.SCRIPT.is_file(), reason="no axe-core here: npm ci --prefix .ci/axe --ignore-scripts"
)


def check(chromium: Browser, path: str, *, name: str) -> None:
    """Open a page in each look; the page has no violation and is not wider than the window."""
    chromium.open(path.removeprefix("/admin/"))
    found: dict[str, list[str]] = {}
    for look in axe.looks(chromium.chrome):
        chromium.see("#content")
        found[look] = axe.violations(chromium.chrome, name=f"{name}-{look}")
        if axe.scrolls_sideways(chromium.chrome):
            found[look].append("the page scrolls sideways")
    assert {look: faults for look, faults in found.items() if faults} == {}
    assert chromium.errors() == []


def message_of(delivery: object) -> str:
    return reverse(
        "admin:notifications_notification_change",
        args=[delivery.notification_id],  # type: ignore[attr-defined]  # a delivery
    )


@pytest.fixture
def shipped(db: None) -> Template:  # noqa: ARG001 - asked for by name
    template = Template.objects.create(template_id="order_shipped", sensitive_variables=["code"])
    TemplateText.objects.create(
        template=template,
        channel=Channel.EMAIL,
        locale="en",
        title="Order {{ order_id }}",
        body="Your order {{ order_id }}, code {{ code }}.",
        html="<p>Your order <b>{{ order_id }}</b>, code {{ code }}.</p>",
    )
    Template.objects.update(published_at=clock.now())
    return template


@needs_axe
@pytest.mark.parametrize("status", [Status.DELIVERED, Status.FAILED, Status.SCHEDULED])
def test_the_page_of_a_message_is_accessible(
    browser: Browser,
    make_delivery: MakeDelivery,
    shipped: Template,
    status: Status,
) -> None:
    reason = {Status.FAILED: "permanent", Status.SCHEDULED: "quiet_hours"}.get(status, "")
    delivery = make_delivery(status=status, reason=reason, template=shipped.pk)
    check(browser, message_of(delivery), name=f"message-{status.label}")
    if status is Status.FAILED:
        check(browser, f"{message_of(delivery).removesuffix('change/')}resend/", name="resend")


@needs_axe
def test_the_activity_is_accessible(
    browser: Browser,
    make_delivery: MakeDelivery,
) -> None:
    for status in (Status.DELIVERED, Status.FAILED, Status.SCHEDULED, Status.UNKNOWN):
        make_delivery(status=status, reason="quiet_hours" if status is Status.SCHEDULED else "")
    page = reverse("admin:notifications_activity")
    check(browser, page, name="activity")
    check(browser, f"{page}?q=nobody", name="activity-empty")
    check(browser, f"{page}?status=10&type=ORDER_SHIPPED", name="activity-chips")


@needs_axe
def test_the_dead_letters_and_a_replay_job_are_accessible(
    browser: Browser,
    make_letters: Callable[[list[str]], list[DeadLetter]],
) -> None:
    page = reverse("admin:notifications_deadletter_changelist")
    check(browser, page, name="dead-letters-empty")
    make_letters(["permanent", "permanent", "ttl_exceeded"])
    check(browser, page, name="dead-letters")
    wanted = LetterFilter(reason="permanent")
    job = replay.start(wanted, requested_by="x", forced=False, renews_ttl=False)
    running = reverse("admin:notifications_replayjob_change", args=[job.pk])
    check(browser, running, name="replay-job")
    replay.run(job, limit=10)
    replay.run(job, limit=10)
    browser.wait_for("#progress h2", "Finished")  # the page loads itself again


@needs_axe
@pytest.mark.parametrize("model", ["contact", "recipient"])
def test_a_list_is_accessible_and_compact_on_a_phone(
    browser: Browser,
    make_delivery: MakeDelivery,
    model: str,
) -> None:
    for _ in range(3):
        make_delivery()
    check(browser, reverse(f"admin:notifications_{model}_changelist"), name=f"list-{model}")
    list(zip(("phone-light",), axe.looks(browser.chrome), strict=False))
    row = browser.see("#result_list tr.data-row")
    assert row.size["height"] < 844 / 4


@needs_axe
def test_the_workers_are_accessible(
    browser: Browser,
    make_delivery: MakeDelivery,
) -> None:
    page = reverse("admin:notifications_workers")
    check(browser, page, name="workers-empty")
    for status, reason in ((Status.SCHEDULED, "breaker"), (Status.QUEUED, "")):
        make_delivery(status=status, reason=reason)
    Delivery.objects.update(priority=0, due_at=TransactionNow())
    check(browser, page, name="workers")
