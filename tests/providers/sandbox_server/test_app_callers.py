"""The sandbox answers its own page and its service, and no web page of somebody else."""

from __future__ import annotations

import pytest

from providers.sandbox_server.app import App
from providers.sandbox_server.ledger import Ledger
from providers.sandbox_server.wire import ServerAnswer, ServerRequest

_HERE = "127.0.0.1:8025"


def _status(method: str, target: str, **headers: str) -> int:
    app = App(Ledger(), None, hosts=frozenset({"sandbox"}))
    answer = app.handle(ServerRequest(method, target, headers, b'{"words": "503"}'))
    assert isinstance(answer, ServerAnswer)
    assert app.steer == {} or answer.status == 200
    return answer.status


@pytest.mark.parametrize("host", [_HERE, "localhost:8025", "[::1]:8025", "sandbox:8025"])
def test_its_own_names_are_answered(host: str) -> None:
    assert _status("GET", "/messages.json", host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8025", "localhost@evil.example", "", "[::1"]
)
def test_another_name_that_leads_here_is_refused(host: str) -> None:
    for target in ("/", "/messages.json", "/stats.json", "/steer"):
        assert _status("GET", target, host=host) == 403


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:8000", f"http://{_HERE}.evil"]
)
def test_a_page_of_another_site_changes_nothing(origin: str) -> None:
    for method, target in (("POST", "/steer"), ("POST", "/reply"), ("DELETE", "/messages")):
        assert _status(method, target, host=_HERE, origin=origin) == 403


def test_its_own_page_and_programs_may_steer() -> None:
    assert _status("POST", "/steer", host=_HERE, origin=f"http://{_HERE}") == 200
    assert _status("POST", "/steer", host=_HERE) == 200
