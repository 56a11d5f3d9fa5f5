"""Log lines of the test process in pytest's capture, also between the phases of a test.

A thread writes the product's log lines (`notifications.core.telemetry`). Between the phases of a
test pytest gives descriptor 2 back to the terminal in order to print its dots, so a line of the
thread came out between two dots. A duplicate of descriptor 2, made while pytest captures, leads to
pytest's file for the whole run. The report of a failing test shows the lines; the option `-s`
shows all of them at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def keep() -> None:
    """Write the log lines of this process to what is captured now."""
    from notifications.core import telemetry  # noqa: PLC0415 - after Django is set up

    telemetry.STDERR._descriptor = os.dup(2)


@contextmanager
def into(file: Path) -> Iterator[Callable[[], str]]:
    """Write the log lines to a file; the function that is given returns the lines so far."""
    from notifications.core.telemetry import STDERR  # noqa: PLC0415 - after Django is set up

    def read() -> str:
        assert STDERR.drain(20)
        return file.read_text()

    before = STDERR._descriptor
    STDERR._descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        yield read
    finally:
        STDERR.drain(20)
        os.close(STDERR._descriptor)
        STDERR._descriptor = before


def discard_the_rest(config: pytest.Config) -> None:
    """Discard what was written after the last test, which pytest would print at its end."""
    from notifications.core import telemetry  # noqa: PLC0415 - after Django is set up

    telemetry.STDERR.drain(1.0)
    manager = config.pluginmanager.getplugin("capturemanager")
    # `-s` captures nothing, and after Ctrl-C pytest has ended the capture.
    if manager is not None and manager._global_capturing is not None:
        manager.read_global_capture()
