"""The examples of the documentation are answered 2xx by the service, as the pages show them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from notify_client import Client
from tests.clients.python.conftest import Service

DOCS: Final = Path(__file__).parents[3] / "docs"
PAGES: Final = ("api-guide", "templates", "preferences", "client-receipts", "inbox", "security")


def _blocks(page: str, language: str) -> list[str]:
    text = (DOCS / f"{page}.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing: apt-get install curl")
@pytest.mark.parametrize("page", PAGES)
def test_each_curl_example_of_a_page_is_answered_2xx(
    page: str, service: Service, tmp_path: Path
) -> None:
    blocks = _blocks(page, "bash")
    assert blocks
    assert all(block.count("curl ") == 1 for block in blocks)
    # Keeps curl's own options out of the page: the status goes to standard error.
    (tmp_path / ".curlrc").write_text('silent\nwrite-out = "%{stderr}%{http_code}\\n"\n')
    key = service.own_keys[2] if page == "security" else service.key  # `security` rotates its key
    done = subprocess.run(
        ["bash", "-eu", "-c", "\n".join(blocks)],  # noqa: S607 - bash of PATH
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "CURL_HOME": str(tmp_path),
            "NOTIFY_URL": service.url,
            "NOTIFY_KEY": key,
        },
        check=False,
        capture_output=True,
        text=True,
    )
    statuses = done.stderr.split()
    assert len(statuses) == len(blocks), done.stderr
    assert all(re.fullmatch("2[0-9][0-9]", status) for status in statuses), (statuses, done.stdout)


def test_the_python_example_sends_and_lists(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(service.url, service.key) as client:
        client.recipients.put("u_1001", contacts=[{"channel": "sms", "address": "+34612345678"}])
    names: dict[str, Any] = {"url": service.url, "key": service.key}
    for block in _blocks("api-guide", "python"):
        exec(compile(block, "api-guide", "exec"), names)  # noqa: S102 - it is our own page
    names["client"].close()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == names["accepted"]["notification_id"]
    assert {"queued"} <= set(lines)
    assert lines[-1].startswith("422 ")
