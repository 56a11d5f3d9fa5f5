"""A person at a shell asks providers, and sends one message by hand."""

from __future__ import annotations

import builtins
import io
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.rules.allowed import AllowList
from providers.sandbox_server.app import App
from providers.sandbox_server.ledger import Ledger
from providers.sandbox_server.wire import Connection
from tests.providers.fakes import Listener, free_port

Got = Callable[[], list[dict[str, Any]]]
Answers = Callable[[str], list[str]]


@pytest.fixture(autouse=True)
def got(monkeypatch: pytest.MonkeyPatch) -> Iterator[Got]:
    """Configure a sandbox that is up; returns what it got."""
    app = App(Ledger(), sender=None)
    with closing(Listener(lambda: Connection(app.handle))) as listener:
        monkeypatch.setenv("NOTIFY_SANDBOX_URL", f"http://127.0.0.1:{listener.port}")
        routing.forget()
        yield lambda: app.ledger.select(equal={})
    routing.forget()


def _run(*arguments: str) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


def _send(address: str, *more: str) -> str:
    return _run("send_one", "sandbox", "email", address, "--title", "Hi", "--body", "Hello", *more)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    """Answer each question so; returns what was asked."""

    def give(answer: str) -> list[str]:
        asked: list[str] = []

        def typed(question: str) -> str:
            asked.append(question)
            return answer

        monkeypatch.setattr(builtins, "input", typed)
        return asked

    return give


def test_a_live_message_is_sent_after_a_yes(got: Got, answers: Answers) -> None:
    asked = answers("yes")
    told = _send("maria@sandbox.example")
    assert len(asked) == 1
    assert "This is live: sandbox will send email to maria@sandbox.example." in told
    assert "Accepted by sandbox in" in told
    [message] = got()
    assert (message["title"], message["body"]) == ("Hi", "Hello")


def test_anything_but_a_yes_sends_nothing(got: Got, answers: Answers) -> None:
    answers("y")
    with pytest.raises(CommandError, match="Nothing was sent"):
        _send("maria@sandbox.example")
    assert got() == []


def test_a_script_says_yes_beforehand_and_sees_what_failed(got: Got, answers: Answers) -> None:
    asked = answers("no")
    with pytest.raises(CommandError, match=r"^Rejected by sandbox in \d+ ms\. 410 .*is dead\.$"):
        _send("maria+410@sandbox.example", "--yes")
    with pytest.raises(CommandError, match=r"^Unavailable by sandbox in \d+ ms\. 503 "):
        _send("maria+503@sandbox.example", "--yes")
    assert asked == []
    assert len(got()) == 2


def test_a_dry_run_asks_nobody_and_sends_nothing(
    got: Got, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers("no")
    dry = replace(conf.current(), dry_run=True)
    monkeypatch.setattr(conf, "current", lambda: dry)
    assert "Accepted by dry_run" in _send("maria@sandbox.example")
    assert asked == []
    assert got() == []


def test_what_may_not_or_cannot_be_sent_is_refused_before_the_question(
    got: Got, answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answers("yes")
    careful = replace(conf.current(), allowed=AllowList.of(["@shop.example"]))
    monkeypatch.setattr(conf, "current", lambda: careful)
    with pytest.raises(CommandError, match="does not list this address"):
        _send("maria@sandbox.example")
    with pytest.raises(CommandError, match=r"twilio is not configured\. These are: sandbox"):
        _run("send_one", "twilio", "sms", "+4930", "--body", "Hello")
    with pytest.raises(CommandError, match="unknown channel 'pigeon'; use one of push, sms"):
        _run("send_one", "sandbox", "pigeon", "roof", "--body", "Hello")
    assert asked == []
    assert got() == []


def test_a_check_is_a_table_with_a_line_for_everybody(
    got: Got, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM="
    monkeypatch.setenv("NOTIFY_WEBHOOK_SECRETS", secret)
    routing.forget()
    lines = [line.split() for line in _run("check_providers").splitlines()]
    assert lines == [
        ["provider", "subject", "detail"],
        ["sandbox", "reachability", "good", "HTTP", "200"],
        ["webhook", "-", "-", "the", "provider", "has", "no", "checks"],
    ]
    assert got() == []


def test_a_bad_finding_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SANDBOX_URL", f"http://127.0.0.1:{free_port()}")
    routing.forget()
    output = io.StringIO()
    with pytest.raises(CommandError, match="Bad findings: 1"):
        call_command("check_providers", stdout=output)
    assert "BAD" in output.getvalue()
