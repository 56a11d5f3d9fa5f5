"""What both of AWS's ways to send a text refuse by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from providers.contract import Accepted, Channel, Provider, Rejected
from providers.sms import aws_eum, aws_sns
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake, EumSpeaker, SnsSpeaker, environ
from tests.providers.messages import message
from tests.providers.trying import outcomes

NUMBER = "+14155550100"


Way = tuple[Provider, AwsFake]


@pytest.fixture(params=[(aws_sns.VENDOR, SnsSpeaker), (aws_eum.VENDOR, EumSpeaker)])
def way(request: pytest.FixtureRequest, transport: Transport) -> Iterator[Way]:
    vendor, speaker = request.param
    with closing(AwsFake(speaker())) as server:
        endpoint = {f"NOTIFY_{vendor.name.upper()}_ENDPOINT": server.url}
        settings = environ(vendor.name.upper()) | endpoint
        yield vendor.configure(settings, transport=transport), server


@pytest.mark.parametrize(
    ("text", "to", "code"),
    [
        ("x" * 1601, NUMBER, "payload_too_large"),
        (" ", NUMBER, "empty_message"),
        ("hello", "04155550100", "malformed_address"),
        ("hello", "+1415555010012345", "malformed_address"),
    ],
)
def test_what_can_never_be_sent_is_rejected_here_and_alone(
    way: Way, text: str, to: str, code: str
) -> None:
    provider, server = way
    bad, good = message(to, Channel.SMS, body=text), message(NUMBER, Channel.SMS)
    refused, accepted = outcomes(provider, bad, good)
    assert isinstance(refused, Rejected)
    assert refused.code == code
    assert isinstance(accepted, Accepted)
    assert len(server.requests) == 1
