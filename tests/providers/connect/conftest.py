"""Accounts on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.providers.connect.aws_stand_in import AwsStandIn
from tests.providers.connect.twilio_stand_in import TwilioStandIn


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsStandIn]:
    with closing(AwsStandIn()) as stand_in:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", stand_in.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", stand_in.url)
        yield stand_in


@pytest.fixture
def twilio() -> Iterator[TwilioStandIn]:
    with closing(TwilioStandIn()) as stand_in:
        yield stand_in
