"""Threads for work that no other thread waits for.

Work that was submitted is done, also while the process can start no further thread: one thread
always runs, and the executor queues work before it starts a thread. Without that, a group whose
next leader got no thread would leave every later request of the process without an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class HelperThreads:
    """A pool of threads; a thread stays after its work."""

    def __init__(self, most: int, *, name: str) -> None:
        """Create the pool without a thread.

        Args:
            most: maximum number of threads.
            name: prefix of the names of the threads.
        """
        self._pool = ThreadPoolExecutor(most, thread_name_prefix=name)
        self._has_thread = False

    def start(self) -> None:
        """Start the first thread.

        Raises:
            RuntimeError: the process can start no thread.
        """
        self._pool.submit(int)
        self._has_thread = True

    def submit(self, work: Callable[..., object], *given: object) -> None:
        """Do the work in a thread; an error of the work goes into the log.

        Raises:
            RuntimeError: the process can start no thread, and none runs.
        """
        try:
            future = self._pool.submit(work, *given)
        except RuntimeError:
            if not self._has_thread:
                raise
            return  # a running thread takes the work from the queue
        future.add_done_callback(Future.result)  # the executor logs an error of a callback

    def shutdown(self) -> None:
        """Wait for the work, and end the threads."""
        self._pool.shutdown()
