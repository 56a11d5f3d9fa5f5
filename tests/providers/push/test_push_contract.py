"""FCM, APNs, Expo and Web Push against the one contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from providers import conformance
from providers.conformance import Subject
from providers.contract import Channel
from providers.push.apns import Apns
from providers.push.apns import Config as ApnsConfig
from providers.push.expo import Config as ExpoConfig
from providers.push.expo import Expo
from providers.push.fcm import Config as FcmConfig
from providers.push.fcm import Fcm
from providers.push.web_push import Config as WebPushConfig
from providers.push.web_push import WebPush
from providers.transport import Transport
from tests.providers.push.browser import Browser
from tests.providers.push.credentials import account, p256, p256_pem, p256_raw, rsa_pem
from tests.providers.push.vendors import ApnsFake, ExpoFake, FcmFake, WebPushFake


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


def apns_subject(transport: Transport, certificate: Path) -> Iterator[Subject]:
    with closing(ApnsFake(certificate=certificate)) as server:
        config = ApnsConfig(
            key=p256(),
            key_id="ABC123DEFG",
            team_id="DEF123GHIJ",
            topic="com.shop.app",
            url=server.url,
        )
        yield Subject(
            provider=Apns(config, transport=transport),
            server=server,
            channel=Channel.PUSH,
            address="00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            secrets=[p256_pem().splitlines()[1]],
        )


def expo_subject(transport: Transport, certificate: Path) -> Iterator[Subject]:
    with closing(ExpoFake(certificate=certificate)) as server:
        config = ExpoConfig(access_token="an-access-token-not-to-be-seen", url=server.url)
        yield Subject(
            provider=Expo(config, transport=transport),
            server=server,
            channel=Channel.PUSH,
            address="ExponentPushToken[device-1]",
            secrets=["an-access-token-not-to-be-seen"],
        )


def web_push_subject(transport: Transport, certificate: Path) -> Iterator[Subject]:
    with closing(WebPushFake(certificate=certificate)) as server:
        config = WebPushConfig(
            private_key=p256(),
            subject="mailto:push@shop.example",
            services=("localhost",),
            allow_private=True,
        )
        browser = Browser(server.url + "/push/1")
        yield Subject(
            provider=WebPush(config, transport=transport),
            server=server,
            channel=Channel.PUSH,
            address=browser.subscription,
            secrets=[p256_raw(), browser.endpoint, browser.auth_text],
        )


@pytest.fixture(params=[fcm_subject, apns_subject, expo_subject, web_push_subject])
def subject(
    request: pytest.FixtureRequest, transport: Transport, certificate: Path
) -> Iterator[Subject]:
    make: Callable[[Transport, Path], Iterator[Subject]] = request.param
    yield from make(transport, certificate)


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_the_adapter_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)
