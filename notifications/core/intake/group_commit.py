"""Group commit: concurrent calls of a process share a run, and so a transaction.

    first call           runs alone, at once
    concurrent calls     wait; after the commit, the first waiting call runs all waiting calls

There is no timer and no additional thread: the thread of a call (the leader) runs the group, and
passes the lead on before it delivers the answers. A single call costs two lock operations. A
waiting call gives its slot back (`store.postgres.slots`), so a group may have more calls than the
process has database connections. The open transaction of a caller would lose its connection, so a
call in one is an error.

Each call gets its own answer after the commit. A call that fails or waits for a lock does not
affect the group: the group is rolled back (`NothingStored`), and every call runs alone in its own
thread. A run must not raise `NothingStored` after a commit.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Generic, TypeAlias, TypeVar

from notifications.core.store.postgres import slots

Call = TypeVar("Call")
Answer = TypeVar("Answer")
Finished: TypeAlias = tuple[Sequence[Answer], Callable[[], None]]
"""An answer for each call, in order, and a function to call after the answers are delivered."""

_MOST: Final = 32
"""Maximum calls in a group; further calls wait for the next group."""


class NothingStored(Exception):
    """The group's transaction was rolled back, so every call runs alone."""


class _Wakeup(Enum):
    """The reason why a waiting call wakes up."""

    ANSWER = auto()
    ERROR = auto()
    LEAD = auto()
    ALONE = auto()


class _Member(Generic[Call, Answer]):
    """A waiting call."""

    __slots__ = ("_wake", "answer", "call", "error", "wakeup")

    answer: Answer
    error: BaseException
    wakeup: _Wakeup

    def __init__(self, call: Call) -> None:
        self.call = call
        self._wake = threading.Lock()
        self._wake.acquire()

    def wait(self) -> _Wakeup:
        self._wake.acquire()
        return self.wakeup

    def wake(self, wakeup: _Wakeup) -> None:
        self.wakeup = wakeup
        self._wake.release()


class GroupCommit(Generic[Call, Answer]):
    """Runs concurrent calls together.

    Args:
        together: runs a group of calls in one transaction, with a short lock timeout; raises
            NothingStored after a rollback.
        alone: runs a single call, without a lock timeout.
    """

    def __init__(
        self,
        together: Callable[[Sequence[Call]], Finished[Answer]],
        alone: Callable[[Call], Answer],
    ) -> None:
        self._together = together
        self._alone = alone
        self._lock = threading.Lock()
        self._is_led = False
        self._waiting: deque[_Member[Call, Answer]] = deque()

    def run(self, call: Call) -> Answer:
        """Run a call together with concurrent calls.

        Raises:
            TransactionManagementError: the caller has opened a transaction.
            Exception: the error of the group's run or of the call's own run.
        """
        slots.check_returnable()
        me: _Member[Call, Answer] = _Member(call)
        with self._lock:
            leads, self._is_led = not self._is_led, True
            if not leads:
                self._waiting.append(me)
        if leads:
            return self._lead(me)
        match self._wait(me):
            case _Wakeup.LEAD:
                return self._lead(me)
            case _Wakeup.ALONE:
                with slots.taken():
                    return self._alone(call)
            case _Wakeup.ERROR:
                raise me.error
            case _Wakeup.ANSWER:
                return me.answer

    def _wait(self, me: _Member[Call, Answer]) -> _Wakeup:
        wakeup = None
        try:
            with slots.given_back():
                wakeup = me.wait()
        except BaseException:
            if wakeup is _Wakeup.LEAD:  # no slot came back
                self._hand_over()
            raise
        return wakeup

    def _lead(self, me: _Member[Call, Answer]) -> Answer:
        has_begun = False
        try:
            with slots.taken():
                has_begun = True
                return self._run_group(me)
        except BaseException:
            if not has_begun:  # no slot came
                self._hand_over()
            raise

    def _run_group(self, me: _Member[Call, Answer]) -> Answer:
        with self._lock:
            others = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST - 1))]
        try:
            answers, finish = self._together([each.call for each in (me, *others)])
        except NothingStored:
            self._hand_over()
            for each in others:
                each.wake(_Wakeup.ALONE)
            return self._alone(me.call)
        except BaseException as error:
            self._hand_over()
            for each in others:
                each.error = error
                each.wake(_Wakeup.ERROR)
            raise
        self._hand_over()
        for each, answer in zip(others, answers[1:], strict=True):
            each.answer = answer
            each.wake(_Wakeup.ANSWER)
        finish()
        return answers[0]

    def _hand_over(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().wake(_Wakeup.LEAD)
            else:
                self._is_led = False
