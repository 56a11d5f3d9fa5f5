"""Which providers have an account, and what it costs to know that."""

from __future__ import annotations

import subprocess
import sys

from providers.connect import registry
from providers.connect.ses import SesAccount

ENVIRON = {"NOTIFY_SES_REGION": "eu-west-1", "NOTIFY_SES_FROM": "no-reply@shop.example"}
URL = "https://notify.shop.example/v1/receipts/ses"


def test_a_provider_with_a_control_plane_has_an_account() -> None:
    assert isinstance(registry.account_of("ses", ENVIRON, receipts_url=URL), SesAccount)


def test_a_provider_without_a_control_plane_has_none() -> None:
    assert registry.account_of("smtp", ENVIRON, receipts_url=URL) is None


def test_an_import_loads_no_sdk() -> None:
    code = (
        "import sys, providers.connect.registry\n"
        "print([m for m in ('boto3', 'botocore', 'twilio', 'firebase_admin') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
