"""Single sign-on in a real browser, at a real identity provider."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from notifications.core.store.postgres import role_groups
from notifications.features.single_sign_on import metadata
from tests.admin.chromium import CHROMEDRIVER, CHROMIUM, Browser
from tests.features.single_sign_on import identity_provider

pytestmark = [
    pytest.mark.skipif(
        not (CHROMIUM and CHROMEDRIVER),
        reason="no chromium or chromedriver here: apt-get install chromium chromium-driver",
    ),
    pytest.mark.django_db(transaction=True),
]


def test_single_sign_on_from_the_button_to_the_overview(
    browser: Browser, settings: Settings
) -> None:
    role_groups.keep()  # the tables of the test before were emptied
    browser.chrome.delete_all_cookies()
    with identity_provider.real_provider() as issuer:
        metadata.forget()
        settings.SINGLE_SIGN_ON = identity_provider.options(issuer)
        settings.AUTHENTICATION_BACKENDS = [
            *settings.AUTHENTICATION_BACKENDS,
            "notifications.features.single_sign_on.backend.SingleSignOn",
        ]
        identity_provider.set_person(issuer, "kim", email="kim@example.com", groups=["oncall"])
        browser.open("notifications/alert/")
        browser.click("#single-sign-on a")
        browser.see("[name=sub]").send_keys("kim")
        browser.click("[type=submit]")
        browser.see("#content")
        assert browser.chrome.current_url.endswith("/admin/notifications/alert/")
        assert "notifications/deadletter/" in browser.menu()
    own = [line for line in browser.errors() if browser.base in line]  # not the provider's page
    assert own == []
