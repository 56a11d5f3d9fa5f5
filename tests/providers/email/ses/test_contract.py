"""SES against the contract, with bulk calls and without, each request checked by botocore."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.transport import Transport
from tests.providers.aws.fakes import KEY_ID, SECRET, AwsFake, SesSpeaker
from tests.providers.email.ses.world import made


@pytest.fixture(params=[True, False], ids=["bulk", "single"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    with closing(AwsFake(SesSpeaker())) as server, closing(Transport()) as transport:
        yield Subject(
            provider=made(server, transport, bulk=request.param),
            server=server,
            channel=Channel.EMAIL,
            address="maria@mailbox.example",
            secrets=[SECRET, KEY_ID],
        )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_ses_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
