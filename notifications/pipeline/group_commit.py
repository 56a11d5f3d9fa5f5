"""Group commit: concurrent calls of one process share one run, so one transaction.

    first call           runs alone, at once
    calls during its run wait; when it has committed, the first of them runs for all that wait

There is no timer and no thread of its own: the thread of one call (the leader) runs for the group
and hands the lead over before it answers. A call that comes alone pays two lock operations.

The promise: each call gets its own answer, and only after the commit that its answer speaks of. One
call that fails, or waits for a lock, does not fail or delay the others: its group is rolled back
(`NothingStored`) and each of its calls runs alone, in its own thread. What breaks it: a run that
raises `NothingStored` although something was stored.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Generic, TypeAlias, TypeVar

Call = TypeVar("Call")
Answer = TypeVar("Answer")
Finished: TypeAlias = tuple[Sequence[Answer], Callable[[], None]]
"""One answer for each call, in order; and what is left to do once all of them are told."""

_MOST: Final = 32
"""Calls in one group: more threads than a web process has."""


class NothingStored(Exception):
    """The group's transaction was rolled back for sure: each of its calls is to run alone."""


class _Told(Enum):
    """What a waiting call is woken for."""

    ANSWER = auto()
    ERROR = auto()
    LEAD = auto()
    ALONE = auto()


class _Member(Generic[Call, Answer]):
    """A call that waits."""

    __slots__ = ("_wake", "answer", "call", "error", "told")

    answer: Answer
    error: BaseException
    told: _Told

    def __init__(self, call: Call) -> None:
        self.call = call
        self._wake = threading.Lock()
        self._wake.acquire()

    def wait(self) -> _Told:
        self._wake.acquire()
        return self.told

    def tell(self, told: _Told) -> None:
        self.told = told
        self._wake.release()


class GroupCommit(Generic[Call, Answer]):
    """Runs calls together. Safe in threads, made for them."""

    def __init__(
        self,
        together: Callable[[Sequence[Call]], Finished[Answer]],
        alone: Callable[[Call], Answer],
    ) -> None:
        """Take the two ways to run.

        Args:
            together: runs a group of at least one in one transaction; waits for locks only briefly,
                and raises NothingStored if nothing of it was stored.
            alone: runs one call by itself, and waits as long as it must.
        """
        self._together = together
        self._alone = alone
        self._lock = threading.Lock()
        self._is_led = False
        self._waiting: deque[_Member[Call, Answer]] = deque()

    def run(self, call: Call) -> Answer:
        """Run one call, with whatever else has come meanwhile.

        Raises:
            Exception: what the run of its group, or its own, raised.
        """
        me = _Member[Call, Answer](call)
        with self._lock:
            leads, self._is_led = not self._is_led, True
            if not leads:
                self._waiting.append(me)
        match _Told.LEAD if leads else me.wait():
            case _Told.LEAD:
                return self._lead(me)
            case _Told.ALONE:
                return self._alone(call)
            case _Told.ERROR:
                raise me.error
            case _Told.ANSWER:
                return me.answer

    def _lead(self, me: _Member[Call, Answer]) -> Answer:
        with self._lock:
            others = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST - 1))]
        try:
            answers, finish = self._together([each.call for each in (me, *others)])
        except NothingStored:
            self._hand_over()
            for each in others:
                each.tell(_Told.ALONE)
            return self._alone(me.call)
        except BaseException as error:
            self._hand_over()
            for each in others:
                each.error = error
                each.tell(_Told.ERROR)
            raise
        self._hand_over()
        for each, answer in zip(others, answers[1:], strict=True):
            each.answer = answer
            each.tell(_Told.ANSWER)
        finish()
        return answers[0]

    def _hand_over(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().tell(_Told.LEAD)
            else:
                self._is_led = False
