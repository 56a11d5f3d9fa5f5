"""Calls: post due messages to endpoints, and settle.

A run claims messages for CLAIM_SECONDS, as many as there is room in flight, and settles the answers
as they arrive. Then the run waits for the last answers, and the next run of the process claims
meanwhile, so the slowest endpoint delays no other. A process has at most two runs; a further one
ends at once.

Safe to run twice, in several processes and late: the claim locks messages and skips locked ones.
After a kill, or when Postgres does not take a result, the lease ends and the message is called
again with the same `webhook-id`.
"""

from __future__ import annotations

import datetime as dt
import queue
import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from uuid import UUID, uuid4

import orjson
import structlog

from notifications.core import clock, conf, stopping
from notifications.core.rules import webhook_events
from notifications.core.rules.webhook_events import POLICIES, MessageState, RetryPreset
from notifications.core.store.postgres import webhook_messages
from notifications.core.store.postgres.webhook_messages import CallResult, ClaimedMessage
from notifications.core.webhooks import body, endpoints
from providers import http_outcomes
from providers.errors import ForbiddenAddress
from providers.transport import Failure, Reply, Request, Response, Transport

_log = structlog.get_logger(__name__)

CLAIM_SECONDS: Final = 30.0
"""At least as long as the last answers of the run before can take."""
IN_FLIGHT: Final = 256
"""Calls in flight of a run."""
SHARE: Final = 8
"""Calls in flight at one endpoint, over all processes."""
FAILING: Final = 5
"""Consecutive failures after which an endpoint has one call in flight."""
_LOOK_EVERY: Final = 0.2
"""Seconds of waiting for an answer before the next look for due messages."""
_TRANSPORT: Final = Transport()
"""Apart from the providers' transport, whose slots endpoints must not take."""
_UNSENDABLE: Final = frozenset({"erased", "not_encodable"})
"""Errors of messages without a body: no further call comes, and the endpoint is not to blame."""
_claiming: Final = threading.Lock()
"""Held by the run of the process that claims."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """The end of a call."""

    message: ClaimedMessage
    token: UUID
    started_at: dt.datetime
    reply: Reply | None
    """None: not called, for the reason in `error`."""
    error: str = ""


class _Run:
    """The calls of one run."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[_Answer] = queue.SimpleQueue()
        self._open = 0
        self.settled = 0

    def claim(self) -> int:
        """Begin calls while there is room; returns the number of begun calls."""
        room = IN_FLIGHT - self._open
        if not room:
            return 0
        token = uuid4()
        claimed = webhook_messages.claim(token=token, limit=room, share=SHARE, failing=FAILING)
        self._open += len(claimed)
        by_preset: dict[RetryPreset, list[tuple[ClaimedMessage, Request]]] = defaultdict(list)
        now = clock.now()
        for message in claimed:
            request = self._prepare(message, token, now)
            if request is not None:
                by_preset[message.preset].append((message, request))
        for preset, calls in by_preset.items():
            call = (calls, POLICIES[preset].deadline, token, now)
            threading.Thread(target=self._call, args=call, name="tell", daemon=True).start()
        return len(claimed)

    def _prepare(self, message: ClaimedMessage, token: UUID, now: dt.datetime) -> Request | None:
        error = "erased" if message.is_erased else ""
        if not error:
            try:
                return body.request_of(message, now=now)
            except ForbiddenAddress:
                error = "forbidden_address"
            except orjson.JSONEncodeError:  # such as metadata that an earlier release accepted
                error = "not_encodable"
        self._answers.put(_Answer(message, token, now, None, error))
        return None

    def _call(
        self,
        calls: Sequence[tuple[ClaimedMessage, Request]],
        deadline: dt.timedelta,
        token: UUID,
        now: dt.datetime,
    ) -> None:
        """Pass the replies of a batch on as they arrive; the thread uses no database."""
        requests = [request for _, request in calls]
        unanswered = {index: message for index, (message, _) in enumerate(calls)}
        try:
            for index, reply in _TRANSPORT.send(requests, deadline=deadline):
                self._answers.put(_Answer(unanswered.pop(index), token, now, reply))
        finally:
            for message in unanswered.values():
                self._answers.put(_Answer(message, token, now, None, "not_called"))

    def settle(self) -> None:
        """Settle the answers in the queue; an empty queue is waited for."""
        try:
            arrived = [self._answers.get(timeout=_LOOK_EVERY if self._open else 0)]
        except queue.Empty:
            return
        while not self._answers.empty():
            arrived.append(self._answers.get())
        by_token: dict[UUID, list[_Answer]] = defaultdict(list)
        for answer in arrived:
            by_token[answer.token].append(answer)
        for token, answers in by_token.items():
            webhook_messages.settle(token, [_result(each) for each in answers])
        _count_health(arrived)
        self._open -= len(arrived)
        self.settled += len(arrived)

    @property
    def is_waiting(self) -> bool:
        """True while calls are in flight."""
        return self._open > 0


def work_off() -> int:
    """Call endpoints until nothing is due or the time is over; returns the number of calls."""
    if conf.current().dry_run or not _claiming.acquire(blocking=False):
        return 0
    run = _Run()
    try:
        ends_at = clock.monotonic() + CLAIM_SECONDS
        while clock.monotonic() < ends_at and not stopping.is_stopping():
            begun = run.claim()
            if not begun and not run.is_waiting:
                break
            run.settle()
    finally:
        _claiming.release()
    while run.is_waiting:
        run.settle()
    return run.settled


def _result(answer: _Answer) -> CallResult:
    message, reply = answer.message, answer.reply
    http_status = reply.status if isinstance(reply, Response) else None
    error = reply.code if isinstance(reply, Failure) else answer.error
    state, due_in = MessageState.SENT, None
    if not _is_success(answer):
        due_in = None if answer.error in _UNSENDABLE else _wait(message, reply)
        is_over = due_in is None
        state = MessageState.FAILED if is_over else MessageState.WAITING
    return CallResult(
        id=message.id,
        endpoint_id=message.endpoint_id,
        state=state.value,
        due_in=due_in,
        number=message.calls,
        started_at=answer.started_at,
        latency_ms=0 if reply is None else reply.elapsed // dt.timedelta(milliseconds=1),
        http_status=http_status,
        error=error,
        response=http_outcomes.excerpt(reply.body, hide=message.url)
        if isinstance(reply, Response)
        else "",
    )


def _wait(message: ClaimedMessage, reply: Reply | None) -> dt.timedelta | None:
    return webhook_events.next_call(
        message.preset,
        calls_made=message.attempts,
        http_status=reply.status if isinstance(reply, Response) else None,
        retry_after=reply.retry_after if isinstance(reply, Response) else None,
        chance=clock.jitter(),
    )


def _is_success(answer: _Answer) -> bool:
    return isinstance(answer.reply, Response) and answer.reply.is_success


def _count_health(answers: Sequence[_Answer]) -> None:
    """Count failures of endpoints; disable after 410, pause after an hour of failures.

    The URLs of requests have no common health: their endpoint is neither disabled nor paused.
    """
    failed: dict[int, int] = defaultdict(int)
    succeeded: dict[int, bool] = defaultdict(bool)
    for answer in answers:
        message = answer.message
        if message.is_of_request or answer.error in _UNSENDABLE:
            continue
        is_success = _is_success(answer)
        failed[message.endpoint_id] += not is_success
        succeeded[message.endpoint_id] |= is_success
        if isinstance(answer.reply, Response) and answer.reply.status == HTTPStatus.GONE:
            endpoints.disable_gone(message.endpoint_id, url=message.url)
    if not failed:
        return
    now = clock.now()
    seen = [(each, failed[each], succeeded[each]) for each in sorted(failed)]
    for health in webhook_messages.count_health(seen):
        if webhook_events.is_to_pause(
            failures=health.failures, failing_since=health.failing_since, now=now
        ):
            endpoints.pause_failing(health.id, failures=health.failures)
