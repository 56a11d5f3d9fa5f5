"""The lines of the processes on the output of the supervisor."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress

import pytest

from notifyproj.all_in_one.output import Output

_PIPE_BYTES = 64 * 1024


class _Reader:
    """The reader of the output, a pipe."""

    def __init__(self) -> None:
        self._read, self.descriptor = os.pipe()
        os.set_blocking(self._read, False)
        self._rest = b""

    def lines(self) -> list[dict[str, object]]:
        """Return the lines that have come."""
        text = self._rest
        with suppress(BlockingIOError):
            while part := os.read(self._read, _PIPE_BYTES):
                text += part
        *lines, self._rest = text.split(b"\n")
        return [json.loads(line) for line in lines]

    def close(self) -> None:
        """Close the reading end alone."""
        os.close(self._read)


@pytest.fixture
def reader() -> Iterator[_Reader]:
    it = _Reader()
    yield it
    with suppress(OSError):
        it.close()
    os.close(it.descriptor)


def test_a_line_of_json_gets_the_name_of_its_process(reader: _Reader) -> None:
    output = Output(["web", "p0"], to=reader.descriptor)
    os.write(output.descriptor("web"), b'{"event":"request","status":202}\n')
    os.write(output.descriptor("p0"), b'{"event":"provider_call"}\n')
    output.pass_on(seconds=0.1)
    assert sorted(map(str, reader.lines())) == [
        "{'process': 'p0', 'event': 'provider_call'}",
        "{'process': 'web', 'event': 'request', 'status': 202}",
    ]


def test_another_line_becomes_the_event_of_a_line_of_json(reader: _Reader) -> None:
    output = Output(["web"], to=reader.descriptor)
    os.write(output.descriptor("web"), b"Traceback:\n\n{}\n\xff\n")
    output.pass_on(seconds=0.1)
    events = [each["event"] for each in reader.lines()]
    assert events == ["Traceback:", "{}", "\N{REPLACEMENT CHARACTER}"]


def test_the_parts_of_a_line_become_one_line(reader: _Reader) -> None:
    output = Output(["web", "p0"], to=reader.descriptor)
    os.write(output.descriptor("web"), b'{"event":')
    os.write(output.descriptor("p0"), b'{"event":"other"}\n')
    output.pass_on(seconds=0.05)
    os.write(output.descriptor("web"), b'"one"}\n')
    output.pass_on(seconds=0.05)
    assert [each["event"] for each in reader.lines()] == ["other", "one"]


def test_a_line_without_an_end_is_written_at_the_end(reader: _Reader) -> None:
    output = Output(["web"], to=reader.descriptor)
    os.write(output.descriptor("web"), b"last words")
    output.pass_on(seconds=0.05)
    assert reader.lines() == []
    output.drain(seconds=1)
    assert [each["event"] for each in reader.lines()] == ["last words"]


def test_a_stuck_reader_stops_nothing_and_loses_no_line_that_was_read(reader: _Reader) -> None:
    output = Output(["web"], to=reader.descriptor)
    os.set_blocking(output.descriptor("web"), False)
    line, sent = b'{"event":"%b"}\n' % (b"x" * 1000), 0
    for _ in range(100):
        with suppress(BlockingIOError):
            while True:
                sent += os.write(output.descriptor("web"), line) == len(line)
        output.pass_on(seconds=0.001)
    assert sent > 1000  # more than a megabyte waits, and further lines are refused
    found: list[dict[str, object]] = []
    while len(found) < sent:
        output.pass_on(seconds=0.001)
        part = reader.lines()
        found += part
    assert {each["process"] for each in found} == {"web"}


def test_a_reader_that_has_gone_ends_no_process(reader: _Reader) -> None:
    output = Output(["web"], to=reader.descriptor)
    reader.close()
    os.write(output.descriptor("web"), b"to nobody\n")
    output.pass_on(seconds=0.05)
    output.drain(seconds=0.05)
