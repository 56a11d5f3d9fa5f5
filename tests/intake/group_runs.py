"""Groups of numbers, for tests of the group commit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event

from notifications.core.intake.group_commit import Finished, GroupCommit

SECONDS = 20


class Runs:
    """Answers a call with the double of its number; the first run waits for the other calls."""

    def __init__(self, *, fails: Callable[[Sequence[int]], None] = lambda _calls: None) -> None:
        self.groups: list[list[int]] = []
        self.finished: list[int] = []
        self.alone: list[int] = []
        self._fails = fails
        self.began, self.go_on = Event(), Event()
        self.group = GroupCommit[int, int](self._together, self._alone)

    def _together(self, calls: Sequence[int]) -> Finished[int]:
        self.groups.append(list(calls))
        if not self.began.is_set():
            self.began.set()
            assert self.go_on.wait(SECONDS)
        self._fails(calls)
        return [2 * call for call in calls], lambda: self.finished.append(len(calls))

    def _alone(self, call: int) -> int:
        if call < 0:
            raise ValueError(call)
        self.alone.append(call)
        return 2 * call

    def with_a_group_of(self, calls: Sequence[int]) -> list[int | Exception]:
        """Start a call and further calls during the first run; return the answers of all calls."""

        def run(call: int) -> int | Exception:
            try:
                return self.group.run(call)
            except (ValueError, OSError) as error:
                return error

        with ThreadPoolExecutor(1 + len(calls)) as pool:
            first = pool.submit(run, 1)
            assert self.began.wait(SECONDS)
            others = [pool.submit(run, call) for call in calls]
            while len(self.group._waiting) < len(calls):
                assert not any(each.done() for each in others)
            self.go_on.set()
            assert first.result(SECONDS) == 2
            return [each.result(SECONDS) for each in others]


class Outcomes:
    """Outcomes of submitted calls."""

    def __init__(self) -> None:
        self._come: SimpleQueue[int | BaseException] = SimpleQueue()

    def submit(self, runs: Runs, calls: Sequence[int]) -> None:
        for call in calls:
            runs.group.submit(call, self._come.put)

    def next(self, count: int) -> list[int | BaseException]:
        """Wait for outcomes; numbers come first, in order."""
        come = [self._come.get(timeout=SECONDS) for _ in range(count)]
        assert self._come.empty()
        return sorted(come, key=lambda each: (isinstance(each, BaseException), str(each)))
