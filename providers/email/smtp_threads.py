"""Threads that carry mails, one mail at a time each: urgent mails first.

Threads start on demand. Urgent jobs may use a few threads more than other jobs, so that urgent jobs
do not wait while every connection hangs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition, Thread

Job = Callable[[], None]
"""A job; a job raises nothing."""


class Threads:
    """At most `size` jobs at a time, and an eighth more (at least one) for urgent jobs."""

    def __init__(self, size: int) -> None:
        """Start no thread yet."""
        self._size, self._most = size, size + max(1, size // 8)
        self._changed = Condition()
        self._urgent: deque[Job] = deque()
        self._patient: deque[Job] = deque()
        self._busy = 0
        self._closed = False
        self._threads: list[Thread] = []

    def submit(self, job: Job, *, urgent: bool) -> None:
        """Run a job in the next free thread."""
        with self._changed:
            (self._urgent if urgent else self._patient).append(job)
            waiting = len(self._urgent) + len(self._patient)
            if self._busy + waiting > len(self._threads) < self._most:
                thread = Thread(target=self._work, name="smtp", daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Let the threads end after the submitted jobs, and wait for the end."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            try:
                job()
            finally:
                with self._changed:
                    self._busy -= 1

    def _take(self) -> Job | None:
        with self._changed:
            while True:
                if self._urgent:
                    line = self._urgent
                elif self._patient and self._busy < self._size:
                    line = self._patient
                elif self._closed and not self._patient:
                    self._changed.notify_all()
                    return None
                else:
                    self._changed.wait()
                    continue
                self._busy += 1
                return line.popleft()
