"""Commands and programs of the documents run as they stand, with the key that the demo prints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Final

import pytest

from notify_client import Client
from tests.clients.python.docs_commands import NOT_RUN, PAGES, ROOT, blocks, script
from tests.clients.service import Service

_WITH_SCRIPT: Final = [page for page in PAGES if script(page)]
_LEAST: Final = 55
"""Commands of the documents that run."""
_PYTHON: Final = ("README.md", "clients/python/README.md", "docs/api-guide.md")
"""Pages whose first Python program is a whole one."""


def _environ(service: Service, home: Path) -> dict[str, str]:
    """Return the variables of the reader's shell: those that the demo prints, and `make shell`."""
    return {
        **service.environ,
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin:{ROOT}",
        "CURL_HOME": str(home),
        "NOTIFY_URL": service.url,
        "NOTIFY_KEY": service.tutorial_key,
    }


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is missing: apt-get install curl")
@pytest.mark.parametrize("page", _WITH_SCRIPT)
def test_each_command_of_a_page_works_with_the_key_that_the_demo_prints(
    page: str, service: Service, tmp_path: Path
) -> None:
    # Keeps curl's own options out of the page: the status goes to standard error.
    (tmp_path / "invoice.pdf").write_bytes(b"%PDF-1.7\n")  # a file of the reader
    (tmp_path / ".curlrc").write_text('silent\nwrite-out = "%{stderr}HTTP %{http_code}\\n"\n')
    text = "\n".join(block.text for block in script(page))
    text = text.replace("http://127.0.0.1:8025", service.sandbox_url)
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", text],  # noqa: S607 - bash of PATH
        env=_environ(service, tmp_path),
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    statuses = re.findall(r"^HTTP (\d+)$", done.stderr, re.MULTILINE)
    assert len(statuses) == text.count("curl "), done.stderr
    assert all(re.match("2|303", status) for status in statuses), (statuses, done.stdout)


def test_each_command_of_the_documents_runs_or_has_a_reason_not_to() -> None:
    ran, used, left = 0, set(), []
    for page in PAGES:
        for block in blocks(page):
            for command in block.commands:
                ran += block.language == "bash"
                exempt = {
                    each
                    for each in NOT_RUN
                    if re.match(each.page, page) and re.match(each.command, f"{command} ")
                }
                used |= exempt
                if (block.language == "bash") == bool(exempt):
                    left.append(f"{page}: {command}")
    assert left == [], "give the block the language bash, or list the command in NOT_RUN"
    assert set(NOT_RUN) - used == set(), "no command is left for these"
    assert ran >= _LEAST


@pytest.mark.parametrize("page", PAGES)
def test_no_page_needs_a_new_curl_or_another_pair_of_names(page: str) -> None:
    for block in blocks(page):
        if "curl " in block.text:
            assert not re.search(r"\s--json\b", block.text), "--json needs curl 7.82"
            assert not re.search(r"\$(?!NOTIFY_)\w*(KEY|URL)\b", block.text)
            assert not re.search(r"\$NOTIFY_(?!KEY|URL)\w*(KEY|URL)\b", block.text)


@pytest.mark.parametrize("page", _PYTHON)
def test_the_first_python_program_of_a_page_sends(
    page: str,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NOTIFY_URL", service.url)
    monkeypatch.setenv("NOTIFY_KEY", service.tutorial_key)
    with Client(service.url, service.tutorial_key) as client:
        client.recipients.put("u_1001", contacts=[{"channel": "sms", "address": "+34612345678"}])
    answers: list[Any] = []
    real = Client.send

    def send(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the client's
        answers.append(real(*given, **named))
        return answers[-1]

    monkeypatch.setattr(Client, "send", send)
    first = next(block.text for block in blocks(page) if block.language == "python")
    names: dict[str, Any] = {}
    exec(compile(textwrap.dedent(first), page, "exec"), names)  # noqa: S102 - it is our own page
    names["client"].close()
    assert answers[0]["status"] == "queued"
    assert answers[0]["deliveries"][0]["channel"] == "sms"
    if page == "docs/api-guide.md":
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == answers[0]["notification_id"]
        assert {"queued"} <= set(lines)
        assert lines[-1].startswith("422 ")
