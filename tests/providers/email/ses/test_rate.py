"""The pace is the account's own: asked of SES, kept, and asked again."""

from __future__ import annotations

from threading import Event

import pytest

from providers.contract import Pace
from providers.email.ses import Ses
from providers.email.ses_rate import ASK_AGAIN_AFTER, DEFAULT, KNOWN_FOR, AccountRate
from providers.sandbox_server.wire import ServerAnswer
from providers.transport import Transport
from tests.providers.aws.fakes import AwsFake
from tests.providers.email.ses.world import made

HOUR = KNOWN_FOR.total_seconds()
MINUTE = ASK_AGAIN_AFTER.total_seconds()


class Account:
    """SES, as far as it is asked for a rate; answers when it is let."""

    def __init__(self, *rates: float | None) -> None:
        self.at = 1000.0
        self._rates = iter(rates)
        self.asked = 0
        self._ended = Event()
        self.rate = AccountRate(self._ask, seconds=lambda: self.at)

    def _ask(self) -> None:
        self.asked += 1
        said = next(self._rates)
        if said is not None:
            self.rate.learn(said)
        self._ended.set()

    def after(self, seconds: float) -> Pace:
        """The pace so much later, once what was asked in the background is answered."""
        self.at += seconds
        asked = self.asked
        self._ended.clear()
        self.rate.current()
        if self.rate._asking.locked() or self.asked > asked:
            assert self._ended.wait(30)
        with self.rate._asking:
            return self.rate._pace


def test_the_first_look_asks_and_the_answer_holds_for_an_hour() -> None:
    account = Account(200, 500)
    assert account.rate._pace == DEFAULT
    assert account.after(0) == Pace(burst=200, per_second=200)
    assert account.after(HOUR - 1) == Pace(burst=200, per_second=200)
    assert account.asked == 1
    assert account.after(1) == Pace(burst=500, per_second=500)


def test_without_an_answer_the_last_rate_holds_and_is_asked_for_a_minute_later() -> None:
    account = Account(200, None, 300)
    assert account.after(0).per_second == 200
    assert account.after(HOUR).per_second == 200
    assert account.after(MINUTE - 1).per_second == 200
    assert account.asked == 2
    assert account.after(1).per_second == 300


def test_a_rate_below_one_a_second_still_lets_one_mail_go() -> None:
    assert Account(0.5).after(0) == Pace(burst=1, per_second=0.5)


def test_the_accounts_rate_becomes_the_pace(server: AwsFake, transport: Transport) -> None:
    provider = made(server, transport, per_second=None)
    quota = b'{"SendQuota": {"MaxSendRate": 321.0, "Max24HourSend": 50000}}'
    server.answer = lambda _request: ServerAnswer(status=200, body=quota)
    assert all(finding.is_good for finding in provider.check(deadline=KNOWN_FOR))
    assert provider.capabilities.pace == Pace(burst=321, per_second=321)


def test_a_setting_is_believed_without_asking(server: AwsFake, transport: Transport) -> None:
    provider: Ses = made(server, transport, per_second=70)
    assert provider.capabilities.pace == Pace(burst=70, per_second=70)
    assert server.requests == []


@pytest.mark.parametrize("body", [b"{}", b"<html>", b'{"SendQuota": {}}'])
def test_an_answer_without_a_rate_changes_nothing(
    server: AwsFake, transport: Transport, body: bytes
) -> None:
    provider = made(server, transport, per_second=None)
    server.answer = lambda _request: ServerAnswer(status=200, body=body)
    list(provider.check(deadline=KNOWN_FOR))
    assert provider._rate._pace == DEFAULT
