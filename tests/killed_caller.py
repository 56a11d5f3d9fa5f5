"""`python -m tests.killed_caller STEP ROW`: a worker that is killed at a step of a provider call.

renewed     the lease is renewed, and no byte of the call has left
connecting  as `renewed`, at a provider that does not tell when a call begins
begun       bytes have left, and no answer came
answered    the provider has accepted, and the sent-ledger is not written
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

import django

from notifyproj.devstack.supervisor.process import ROOT
from providers.contract import Accepted, Capabilities, Message, Outcome
from tests.vendors import Scripted, ScriptedVendor


def call_and_be_killed(step: str, row: UUID, *, database_url: str, **environ: str) -> None:
    """Deliver a row in a process that is killed at a step."""
    command = [sys.executable, "-m", "tests.killed_caller", step, str(row)]
    given = {**os.environ, "DATABASE_URL": database_url, **environ}
    done = subprocess.run(command, cwd=ROOT, env=given, check=False)
    assert done.returncode == -signal.SIGKILL


class _TellingProvider(Scripted):
    """A provider that tells when a call begins."""

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, marks_begin=True)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(step: str, row: str) -> None:
    """Deliver the row."""
    django.setup()
    from notifications.core.delivery import deliver  # noqa: PLC0415 - after Django is set up
    from notifications.core.store.redis import sent_ledger  # noqa: PLC0415 - as above
    from providers import registry  # noqa: PLC0415 - as above

    def answer(batch: Sequence[Message]) -> Iterator[tuple[Message, Outcome]]:
        for each in batch:
            if step in {"begun", "answered"}:
                assert each.on_begin is not None
                each.on_begin()
            if step != "answered":
                _die()
            yield each, Accepted(message_id="m-1")

    provider = (Scripted if step == "connecting" else _TellingProvider)(answer=answer)
    setattr(registry, "VENDORS", (*registry.VENDORS, ScriptedVendor(provider)))  # noqa: B010 - final
    setattr(sent_ledger, "write_encoded", lambda _values: _die())  # noqa: B010 - for the kill
    deliver.deliver([UUID(row)])


if __name__ == "__main__":
    main(*sys.argv[1:])
