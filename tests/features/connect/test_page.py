"""docs/connect.md shows what `connect` prints, against stand-ins of the vendors."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from django.core.management import CommandError, call_command

from notifications.core import conf
from notifications.core.delivery import routing
from tests.providers.aws.fakes import KEY_ID, REGION, SECRET
from tests.providers.connect.aws_stand_in import AwsStandIn, number
from tests.providers.connect.twilio_stand_in import TwilioStandIn
from tests.providers.sms.twilio_fake import ACCOUNT, NUMBER, TOKEN

pytestmark = pytest.mark.django_db
PAGE: Final = Path(__file__).parents[3] / "docs" / "connect.md"
URL: Final = "https://notify.example.com"
_BLOCK: Final = re.compile(r"```console\n\$ manage\.py (?P<command>.+)\n(?P<shown>[^`]*)```")


@pytest.fixture(autouse=True)
def _vendors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    public = replace(conf.current(), public_url=URL)
    monkeypatch.setattr(conf, "current", lambda: public)
    monkeypatch.setenv("NOTIFY_PUBLIC_URL", URL)
    with ExitStack() as stack:
        aws = stack.enter_context(closing(AwsStandIn()))
        twilio = stack.enter_context(closing(TwilioStandIn()))
        aws.identities = {"example.com": aws.identities["shop.example"]}
        aws.suppressed = [(f"p{n}@example.net", "BOUNCE") for n in range(5)]
        aws.numbers = [number(), number()]
        aws.opted_out = {"Default": ["+493012345001"]}
        for name in ("SES", "AWS_EUM"):
            monkeypatch.setenv(f"NOTIFY_{name}_REGION", REGION)
            monkeypatch.setenv(f"NOTIFY_{name}_ENDPOINT", aws.url)
            monkeypatch.setenv(f"NOTIFY_{name}_ACCESS_KEY_ID", KEY_ID)
            monkeypatch.setenv(f"NOTIFY_{name}_SECRET_ACCESS_KEY", SECRET)
        monkeypatch.setenv("NOTIFY_SES_FROM", "notify@example.com")
        monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", aws.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", aws.url)
        monkeypatch.setenv("NOTIFY_TWILIO_ACCOUNT_SID", ACCOUNT)
        monkeypatch.setenv("NOTIFY_TWILIO_AUTH_TOKEN", TOKEN)
        monkeypatch.setenv("NOTIFY_TWILIO_FROM", NUMBER)
        monkeypatch.setenv("NOTIFY_TWILIO_URL", twilio.url)
        stack.callback(routing.forget)
        routing.forget()
        yield


def _printed(command: str) -> str:
    """Run a command as a script would; returns what a terminal shows."""
    output = io.StringIO()
    try:
        call_command(*shlex.split(command), stdout=output)
    except CommandError as error:
        output.write(f"CommandError: {error}\n")
    return output.getvalue()


def test_the_page_shows_what_the_command_prints() -> None:
    blocks = list(_BLOCK.finditer(PAGE.read_text()))
    assert [shlex.split(block["command"])[1] for block in blocks] == ["ses", "aws_eum", "twilio"]
    for block in blocks:
        assert _printed(block["command"]).splitlines() == block["shown"].splitlines()
