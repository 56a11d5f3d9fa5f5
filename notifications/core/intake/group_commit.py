"""Group commit: concurrent calls of a process share a run, and so a transaction.

    first call           runs alone, at once
    concurrent calls     wait; after the commit, the first waiting call runs all waiting calls

There is no timer: the thread of a call (the leader) runs the group, and lets other threads run
first as long as calls come. A waiting call gives its slot back (`store.postgres.slots`), so a group
may have more calls than the process has database connections. The open transaction of a caller
would lose its connection, so a call in one is an error.

    run       the thread of the call waits; the leader passes the lead on before it wakes threads
    submit    no thread waits; the leader tells the answers before it passes the lead on, and a
              helper thread leads if the call is the first to wait

Each call gets its own answer after the commit. A call that fails or waits for a lock does not
affect the group: the group is rolled back (`NothingStored`), and every call runs alone in its own
thread. A run must not raise `NothingStored` after a commit.
"""

from __future__ import annotations

import contextvars
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import Enum, auto
from typing import Final, Generic, TypeAlias, TypeVar

from notifications.core.intake.helper_threads import HelperThreads
from notifications.core.store.postgres import slots

Call = TypeVar("Call")
Answer = TypeVar("Answer")
Finished: TypeAlias = tuple[Sequence[Answer], Callable[[], None]]
"""An answer for each call, in order, and a function to call after the answers are delivered."""

_MOST: Final = 32
"""Maximum calls in a group; further calls wait for the next group."""
helpers: Final = HelperThreads(_MOST, name="group-commit")
"""Threads that lead for submitted calls, and that run submitted calls alone."""


class NothingStored(Exception):
    """The group's transaction was rolled back, so every call runs alone."""


class _Wakeup(Enum):
    """The reason why a waiting call wakes up."""

    ANSWER = auto()
    ERROR = auto()
    LEAD = auto()
    ALONE = auto()


class _Member(ABC, Generic[Call, Answer]):
    """A call, and its outcome."""

    __slots__ = ("answer", "call", "error", "wakeup")

    answer: Answer
    error: BaseException
    wakeup: _Wakeup
    has_thread = True

    def __init__(self, call: Call) -> None:
        self.call = call

    @abstractmethod
    def wake(self, wakeup: _Wakeup) -> None:
        """Deliver the outcome, or let the call go on."""


class _Waiting(_Member[Call, Answer]):
    """A call with a waiting thread."""

    __slots__ = ("_wake",)

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._wake = threading.Lock()
        self._wake.acquire()

    def wait(self) -> _Wakeup:
        self._wake.acquire()
        return self.wakeup

    def wake(self, wakeup: _Wakeup) -> None:
        self.wakeup = wakeup
        self._wake.release()


class _Submitted(_Member[Call, Answer]):
    """A call without a thread."""

    __slots__ = ("_context", "_go_on", "_lease", "_tell", "is_told")

    has_thread = False

    def __init__(
        self,
        call: Call,
        tell: Callable[[Answer | BaseException], None],
        go_on: Callable[[_Submitted[Call, Answer]], None],
    ) -> None:
        super().__init__(call)
        self._tell = tell
        self._go_on = go_on
        self._context = contextvars.copy_context()
        self._lease = slots.offered()
        self.is_told = False

    def wake(self, wakeup: _Wakeup) -> None:
        self.wakeup = wakeup
        match wakeup:
            case _Wakeup.ANSWER:
                self.tell(self.answer)
            case _Wakeup.ERROR:
                self.tell(self.error)
            case _:
                helpers.submit(self._context.copy().run, self._in_helper)

    def _in_helper(self) -> None:
        # The leader may hold a slot by this call's own lease.
        slots.offer(self._lease.another() if self._lease is not None else None)
        try:
            self._go_on(self)
        finally:
            slots.offer(None)

    def tell(self, outcome: Answer | BaseException) -> None:
        self.is_told = True
        self._tell(outcome)


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
        me: _Waiting[Call, Answer] = _Waiting(call)
        if self._joins(me) or self._wait(me) is _Wakeup.LEAD:
            self._lead(me)
        match me.wakeup:
            case _Wakeup.ALONE:
                with slots.taken():
                    return self._alone(call)
            case _Wakeup.ERROR:
                raise me.error
            case _:
                return me.answer

    def submit(self, call: Call, tell: Callable[[Answer | BaseException], None]) -> None:
        """Run a call together with concurrent calls; this thread does not wait for a group.

        Args:
            call: the call.
            tell: gets the answer or the error in the thread that has run the call, once.

        Raises:
            TransactionManagementError: the caller has opened a transaction.
        """
        slots.check_returnable()
        me = _Submitted(call, tell, self._go_on)
        if self._joins(me):
            me.wakeup = _Wakeup.LEAD
            self._go_on(me)

    def _joins(self, me: _Member[Call, Answer]) -> bool:
        """Return True if the call leads; else the call waits now."""
        with self._lock:
            leads, self._is_led = not self._is_led, True
            if not leads:
                self._waiting.append(me)
        return leads

    def _go_on(self, me: _Submitted[Call, Answer]) -> None:
        """Lead, or run a submitted call alone."""
        try:
            if me.wakeup is _Wakeup.LEAD:
                self._lead(me)
            else:
                with slots.taken():
                    answer = self._alone(me.call)
                me.tell(answer)
        except BaseException as error:
            if me.is_told:
                raise
            me.tell(error)

    def _wait(self, me: _Waiting[Call, Answer]) -> _Wakeup:
        wakeup = None
        try:
            with slots.given_back():
                wakeup = me.wait()
        except BaseException:
            if wakeup is _Wakeup.LEAD:  # no slot came back
                self._hand_over()
            raise
        return wakeup

    def _lead(self, me: _Member[Call, Answer]) -> None:
        """Run a group, and wake the calls of the group."""
        has_begun = False
        try:
            self._gather()
            with slots.taken():
                has_begun = True
                self._run_group(me)
        except BaseException:
            if not has_begun:  # no slot came
                self._hand_over()
            raise

    def _gather(self) -> None:
        """Let other threads run as long as calls come.

        A thread that has just answered a group holds the interpreter while the callers of that
        group post again; without this, each group would have half of the callers.
        """
        came = -1
        while came < len(self._waiting) < _MOST - 1:
            came = len(self._waiting)
            time.sleep(0)  # noqa: TID251 - not a wait: other threads may have the interpreter

    def _run_group(self, me: _Member[Call, Answer]) -> None:
        with self._lock:
            others = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST - 1))]
        members = (me, *others)
        try:
            answers, finish = self._together([each.call for each in members])
        except NothingStored:
            self._wake(members, _Wakeup.ALONE)
            return
        except BaseException as error:  # noqa: BLE001 - each call raises the error
            for each in members:
                each.error = error
            self._wake(members, _Wakeup.ERROR)
            return
        for each, answer in zip(members, answers, strict=True):
            each.answer = answer
        self._wake(members, _Wakeup.ANSWER, finish)

    def _wake(
        self,
        members: Sequence[_Member[Call, Answer]],
        wakeup: _Wakeup,
        finish: Callable[[], None] = lambda: None,
    ) -> None:
        """Tell the outcomes, pass the lead on, wake the threads that wait, and finish.

        A thread that wakes up waits for the interpreter, so the lead does not wait for the thread.
        Each step is done, also after the error of another.
        """
        with ExitStack() as steps:  # the last step comes first
            steps.callback(finish)
            for each in members:
                if each.has_thread:
                    steps.callback(each.wake, wakeup)
            steps.callback(self._hand_over)
            for each in members:
                if not each.has_thread:
                    steps.callback(each.wake, wakeup)

    def _hand_over(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().wake(_Wakeup.LEAD)
            else:
                self._is_led = False
