"""`python -m notifyproj.devstack.demo`: plays the stories; exit code 0: every check held.

The stories send thousands of live messages to invented addresses. So no story is played (exit code
3) while a live message may leave by a provider other than the sandbox and Web Push.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Final

from notifications.core.rules import in_app
from notifyproj.devstack.demo import load_and_failure, single_messages
from notifyproj.devstack.demo.environment import DemoEnvironment, TooLate, Unexpected
from notifyproj.devstack.demo.report import Report
from notifyproj.devstack.supervisor.process import ROOT
from providers import dry_run, sandbox
from providers.push import web_push

Story = Callable[[DemoEnvironment, Report], None]

STORIES: Final[dict[str, Story]] = {
    "1. Message A: 503, 503, 202": single_messages.third_try,
    "2. Message B: an invalid phone number": single_messages.wrong_number,
    "3. An order is ready, posted twice": single_messages.order_ready,
    "4. Opted out, expired, scheduled, cancelled": single_messages.not_now,
    "5. An OTP passes 2,000 newsletters": load_and_failure.otp_passes,
    "6. Workers killed while sending, broker wiped": load_and_failure.kill_workers_and_wipe_broker,
    "7. An OTP to a phone in airplane mode": single_messages.airplane_mode,
}


NOT_PLAYED: Final = 3
"""Exit code if a real provider would get the stories' messages."""
_HARMLESS: Final = frozenset({sandbox.NAME, dry_run.NAME, in_app.PROVIDER, web_push.NAME})
"""The inbox is a table here, and no story has a browser as contact."""


def main() -> int:
    """Play the stories with the given numbers, or all; return the exit code."""
    if others := _other_providers():
        print(
            f"The stories are not played: live messages go through {', '.join(others)}. The stories"
            " would send thousands of messages there. Route every channel to the sandbox"
            " (NOTIFY_ROUTES, and Provider routes in admin), or leave them out: STORIES=0.",
            flush=True,
        )
        return NOT_PLAYED
    scene = DemoEnvironment.from_environment(os.environ)
    wanted = tuple(sys.argv[1:]) or tuple(str(number) for number in range(1, len(STORIES) + 1))
    ends = {
        title: _play(title, story, scene)
        for title, story in STORIES.items()
        if title.startswith(wanted)
    }
    print()
    for title, broken in ends.items():
        print(f"{title}: {'NOT held: ' + '; '.join(broken) if broken else 'held'}")
    return int(any(ends.values()))


def _other_providers() -> list[str]:
    """Return the providers of live messages beside the sandbox, as `smtp (email)`."""
    found = subprocess.run(
        [sys.executable, "manage.py", "live_providers"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    lines = [line.partition(" ") for line in found.stdout.splitlines()]
    return [f"{name} ({channels})" for name, _, channels in lines if name not in _HARMLESS]


def _play(title: str, story: Story, scene: DemoEnvironment) -> list[str]:
    teller = Report(title, say=lambda line: print(line, flush=True))
    try:
        story(scene, teller)
    except (TooLate, Unexpected, OSError) as error:
        teller.check(str(error), held=False)
    return teller.broken


if __name__ == "__main__":
    sys.exit(main())
