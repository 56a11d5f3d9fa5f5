"""Every vendor has a pace by default, and a setting for another."""

from __future__ import annotations

from contextlib import closing
from dataclasses import fields
from typing import Any

import pytest

from providers import registry, sandbox
from providers.transport import Transport
from providers.vendor import Vendor
from tests.providers.messages import SECRET

VENDORS = [each for each in registry.VENDORS if each.name != sandbox.NAME]


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.name)
def test_every_vendor_can_be_given_a_pace(vendor: Vendor[Any]) -> None:
    assert "per_second" in {each.name for each in fields(vendor.config)}


@pytest.mark.parametrize(
    "environ",
    [
        {"NOTIFY_WEBHOOK_SECRETS": SECRET},
        {"NOTIFY_SMTP_URL": "smtp://127.0.0.1", "NOTIFY_SMTP_FROM": "a@shop.example"},
        {"NOTIFY_APPRISE_SCHEMES": "slack"},
        {"NOTIFY_AWS_SNS_REGION": "eu-west-1"},
        {"NOTIFY_AWS_EUM_REGION": "eu-west-1"},
        {"NOTIFY_SES_REGION": "eu-west-1", "NOTIFY_SES_FROM": "a@shop.example"},
    ],
    ids=lambda environ: next(iter(environ)),
)
def test_a_setting_sets_the_pace(environ: dict[str, str]) -> None:
    name = next(iter(environ)).removeprefix("NOTIFY_").rpartition("_")[0].lower()
    with closing(Transport()) as transport:
        changed = {**environ, f"NOTIFY_{name.upper()}_PER_SECOND": "77"}
        ours = registry.build_all(changed, transport=transport)[name].capabilities.pace
        assert ours is not None
        assert ours.per_second == 77
