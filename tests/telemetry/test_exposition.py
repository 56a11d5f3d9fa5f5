"""The server of a worker's metrics: the first free port of a range, or none."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import ExitStack
from urllib.request import urlopen

import pytest

from notifications.core.conf import ListenAddress
from notifications.core.telemetry import exposition, instruments

_HOST = "127.0.0.1"


def _neighbours(stack: ExitStack, count: int) -> list[socket.socket]:
    """Listen on `count` ports in a row; the caller's stack closes them."""
    for _ in range(100):
        attempt = ExitStack()
        first = attempt.enter_context(socket.create_server((_HOST, 0)))
        port = first.getsockname()[1]
        try:
            others = [
                attempt.enter_context(socket.create_server((_HOST, port + offset)))
                for offset in range(1, count)
            ]
        except OSError:
            attempt.close()
            continue
        stack.enter_context(attempt)
        return [first, *others]
    pytest.fail("no ports in a row are free")


def test_a_process_takes_the_first_free_port(log_output: Callable[[], str]) -> None:
    with ExitStack() as stack:
        busy, free = _neighbours(stack, 2)
        first, last = busy.getsockname()[1], free.getsockname()[1]
        free.close()
        instruments.SETTLE_SECONDS.observe(0.01)
        exposition.serve(ListenAddress(_HOST, first, last)).join()
        lines = map(json.loads, log_output().splitlines())
        assert [(line["event"], line["port"]) for line in lines] == [("metrics_served", last)]
        with urlopen(f"http://{_HOST}:{last}/metrics") as answer:
            text = answer.read().decode()
    assert "notifications_settle_seconds_count" in text
    assert "process_resident_memory_bytes" in text


def test_without_a_free_port_the_process_works_on_and_says_so(
    log_output: Callable[[], str],
) -> None:
    with ExitStack() as stack:
        [busy] = _neighbours(stack, 1)
        port = busy.getsockname()[1]
        exposition.serve(ListenAddress(_HOST, port, port)).join()
    [line] = map(json.loads, log_output().splitlines())
    assert (line["event"], line["level"]) == ("metrics_not_served", "warning")
    assert "in use" in line["reason"]
