"""A browser, and a recipient with topics of each kind, for pages with preferences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService

from notifications.core.models import Contact, NotificationType, Recipient, TopicText
from notifications.core.store.cached import notification_types, topic_texts
from providers.contract import Channel
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, FLAGS

NEEDS_BROWSER: Final = pytest.mark.skipif(
    not (CHROMIUM and CHROMEDRIVER),
    reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
)


@pytest.fixture
def maria() -> Recipient:
    """Somebody with three channels, and topics of each kind."""
    for name, priority, category in (
        ("OTP", 0, "security"),
        ("ORDER_READY", 1, "orders"),
        ("ORDER_SHIPPED", 2, "orders"),
        ("LIKE", 2, "social"),
        ("SALE", 3, "marketing"),
    ):
        NotificationType.objects.create(name=name, priority=priority, category=category)
    NotificationType.objects.filter(name="ORDER_READY").update(is_mandatory=True)
    NotificationType.objects.filter(name="SALE").update(digest_template="sales")
    for topic, locale, name, description in (
        ("orders", "en", "Orders", "What becomes of your orders."),
        ("orders", "ar", "الطلبات", "أخبار طلباتك."),
        ("social", "ar", "التفاعلات", ""),
        ("marketing", "ar", "العروض", ""),
        ("security", "ar", "الأمان", ""),
    ):
        TopicText.objects.create(topic=topic, locale=locale, name=name, description=description)
    notification_types.forget()
    topic_texts.forget()
    person = Recipient.objects.create(user_id="maria", timezone="Europe/Berlin")
    for channel, address in ((Channel.EMAIL, "maria@example.com"), (Channel.PUSH, "phone")):
        Contact.objects.create(recipient=person, channel=channel, address=address, is_primary=True)
    return person


@pytest.fixture
def chrome(tmp_path: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"user-data-dir={tmp_path}"):
        options.add_argument(f"--{flag}")
    driver = Chrome(options=options, service=ChromeService(CHROMEDRIVER))
    try:
        yield driver
    finally:
        driver.quit()
