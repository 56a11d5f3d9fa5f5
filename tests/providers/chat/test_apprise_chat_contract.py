"""Apprise, as far as Telegram, against the one contract."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from providers import conformance
from providers.chat.apprise_chat import AppriseChat, Config
from providers.conformance import Subject
from providers.contract import Channel
from providers.transport import Transport
from tests.providers.chat.services_fake import CASES, TOKEN, telegram_fake


@pytest.fixture
def subject() -> Iterator[Subject]:
    case = CASES["telegram"]
    with closing(Transport()) as transport, closing(telegram_fake()) as server:
        config = Config(schemes=frozenset({"tgram"}), endpoints={case.origin: server.origin})
        yield Subject(
            provider=AppriseChat(config, transport=transport),
            server=server,
            channel=Channel.CHAT,
            address=case.address,
            secrets=[TOKEN, "-1001234567"],
        )


@pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
def test_apprise_keeps_the_contract(check: Callable[[Subject], None], subject: Subject) -> None:
    check(subject)


def test_logs_keep_secrets_after_another_configuration_of_logging(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    conformance.checks.keeps_secrets(subject)
    # `logging.config.dictConfig` does so for each logger that exists.
    monkeypatch.setattr(logging.getLogger("apprise"), "disabled", False)
    conformance.checks.keeps_secrets(subject)
