"""FCM, APNs and Web Push against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.push.fcm import Config as FcmConfig
from providers.push.fcm import Fcm
from providers.transport import Transport
from tests.providers.push.credentials import account, rsa_pem
from tests.providers.push.vendors import FcmFake


def fcm_subject(transport: Transport, certificate: Path) -> Iterator[Subject]:
    with closing(FcmFake(certificate=certificate)) as server:
        config = FcmConfig(credentials=account(server.url + "/token"), url=server.url)
        yield Subject(
            provider=Fcm(config, transport=transport),
            server=server,
            channel=Channel.PUSH,
            address="device-token-1",
            secrets=[rsa_pem(), rsa_pem().splitlines()[1], "ya29."],
        )


@pytest.fixture(params=[fcm_subject])
def subject(
    request: pytest.FixtureRequest, transport: Transport, certificate: Path
) -> Iterator[Subject]:
    make: Callable[[Transport, Path], Iterator[Subject]] = request.param
    yield from make(transport, certificate)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
