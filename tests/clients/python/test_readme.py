"""The first messages of both READMEs are accepted by the service, as they stand there."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any, Final

import pytest

from notify_client import Client
from tests.clients.python.conftest import Service

_ROOT: Final = Path(__file__).parents[3]
_CODE: Final = re.compile(
    r"^( *)from notify_client import Client\n.*?\n(?=```|\n\S)", re.DOTALL | re.MULTILINE
)


@pytest.mark.parametrize("page", ["README.md", "clients/python/README.md"])
def test_a_first_message_is_accepted(
    page: str, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = _CODE.search((_ROOT / page).read_text())
    assert found
    answers: list[Any] = []
    real = Client.send
    monkeypatch.setattr(Client, "send", lambda *a, **b: answers.append(real(*a, **b)))
    code = textwrap.dedent(found[0]).replace("http://127.0.0.1:8000", service.url)
    names: dict[str, Any] = {"key": service.key}
    exec(compile(code, page, "exec"), names)  # noqa: S102 - it is our own page
    names["client"].close()
    assert answers[0]["status"] == "queued"
    assert answers[0]["deliveries"][0]["channel"] == "sms"
