"""Real processes that keep a template in mind, and how long it takes until the last has news."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Final

from notifications.core.models import Template
from notifications.core.rules.templates import contents
from notifications.core.store.redis import state
from notifications.core.store.templates import invalidation, versions
from notifyproj.devstack.supervisor.process import ROOT
from providers.contract import Channel

PROCESSES: Final = 4
NAME: Final = "watched"


class Watchers:
    """The processes, once each has seen the first version."""

    def __init__(self, outputs: Sequence[IO[str]]) -> None:
        self._outputs = outputs

    def seconds_until_last(self, body: str) -> float:
        """Publish a new version; how long after its commit the last process shows it."""
        begun = time.monotonic()
        version = publish(body)
        return max(_shown(output, version.pk) for output in self._outputs) - begun


@contextmanager
def watching(environ: Mapping[str, str], *, patience: float) -> Iterator[Watchers]:
    """Start them; each has seen a version, and listens if there is a Redis to listen to."""
    first = publish("first")
    command = [sys.executable, "-m", "tests.store.templates.watcher", NAME, str(patience)]
    with ExitStack() as exits:
        pipes = [os.pipe() for _ in range(PROCESSES)]
        outputs = [exits.enter_context(os.fdopen(reading)) for reading, _ in pipes]
        given = [writing for _, writing in pipes]
        process = exits.enter_context(
            subprocess.Popen(
                [*command, *map(str, given)],
                cwd=ROOT,
                env=dict(environ),
                pass_fds=given,
                start_new_session=True,
            )
        )
        exits.callback(os.killpg, process.pid, signal.SIGKILL)
        for each in given:
            os.close(each)
        for output in outputs:
            _shown(output, first.pk)
        yield Watchers(outputs)


def publish(body: str) -> Template:
    """A new current version of the watched template."""
    words = contents.words(Channel.SMS, "en", body=body)
    draft = versions.draft(NAME, contents.content([words]), by="tests")
    return versions.publish(draft, by="tests")


def listeners() -> int:
    """How many processes listen for news now."""
    [(_, count)] = state.client().pubsub_numsub(invalidation.CHANNEL)
    return int(count)


def _shown(output: IO[str], version: int) -> float:
    """When a process first saw this version."""
    while line := output.readline():
        which, at = line.split()
        if int(which) == version:
            return float(at)
    raise AssertionError("the process ended")
