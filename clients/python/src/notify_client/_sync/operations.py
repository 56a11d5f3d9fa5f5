"""Dead letters, replays, alerts, cancel jobs, switches and budgets."""

from __future__ import annotations

from typing import Unpack

from notify_client import _call
from notify_client._sync.engine import Engine, Pages
from notify_client.types import (
    AlertAcknowledgement,
    AlertAnswer,
    BudgetAnswer,
    CancelJobAnswer,
    DeadLetterAnswer,
    ListAlertsQuery,
    ListDeadLettersQuery,
    ListSwitchesQuery,
    PageQuery,
    ReplayJobAnswer,
    ReplayRequest,
    SwitchAnswer,
    SwitchRequest,
)


class DeadLetters:
    """`/v1/dead-letters` and `/v1/replay-jobs`: deliveries that gave up."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.dead_letters`."""
        self._engine = engine

    def list(self, **query: Unpack[ListDeadLettersQuery]) -> Pages[DeadLetterAnswer]:
        """List dead letters, newest first."""
        return Pages(self._engine, _call.path("dead-letters"), {**query})

    def get(self, letter_id: int) -> DeadLetterAnswer:
        """A dead letter."""
        return self._engine.value(_call.get(_call.path("dead-letters", letter_id)), has="id")

    def discard(self, letter_id: int, *, idempotency_key: str | None = None) -> DeadLetterAnswer:
        """Resolve a dead letter without a replay."""
        target = _call.path("dead-letters", letter_id, "discard")
        return self._engine.value(_call.post(target, {}, idempotency_key=idempotency_key), has="id")

    def replay(
        self, *, idempotency_key: str | None = None, **replay: Unpack[ReplayRequest]
    ) -> ReplayJobAnswer:
        """Replay the dead letters with the ids, or all dead letters that match the filters."""
        target = _call.path("dead-letters", "replay")
        call = _call.post(target, replay, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def replay_jobs(self, **query: Unpack[PageQuery]) -> Pages[ReplayJobAnswer]:
        """List replay jobs, newest first."""
        return Pages(self._engine, _call.path("replay-jobs"), {**query})

    def replay_job(self, job_id: int) -> ReplayJobAnswer:
        """Return the progress of a replay job."""
        return self._engine.value(_call.get(_call.path("replay-jobs", job_id)), has="id")


class Alerts:
    """`/v1/alerts`: conditions that need an operator."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.alerts`."""
        self._engine = engine

    def list(self, **query: Unpack[ListAlertsQuery]) -> Pages[AlertAnswer]:
        """List open alerts; with `resolved`, closed alerts."""
        return Pages(self._engine, _call.path("alerts"), {**query})

    def acknowledge(
        self,
        alert_id: int,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[AlertAcknowledgement],
    ) -> AlertAnswer:
        """Acknowledge an alert for some minutes."""
        target = _call.path("alerts", alert_id, "acknowledge")
        return self._engine.value(
            _call.post(target, {**body}, idempotency_key=idempotency_key), has="id"
        )

    def resolve(self, alert_id: int, *, idempotency_key: str | None = None) -> AlertAnswer:
        """Close an alert."""
        target = _call.path("alerts", alert_id, "resolve")
        return self._engine.value(_call.post(target, {}, idempotency_key=idempotency_key), has="id")


class CancelJobs:
    """`/v1/cancel-jobs`: the progress of `notifications.cancel_many`."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.cancel_jobs`."""
        self._engine = engine

    def list(self, **query: Unpack[PageQuery]) -> Pages[CancelJobAnswer]:
        """List cancel jobs, newest first."""
        return Pages(self._engine, _call.path("cancel-jobs"), {**query})

    def get(self, job_id: int) -> CancelJobAnswer:
        """Return the progress of a cancel job."""
        return self._engine.value(_call.get(_call.path("cancel-jobs", job_id)), has="id")

    def stop(self, job_id: int, *, idempotency_key: str | None = None) -> CancelJobAnswer:
        """Stop a cancel job; cancelled notifications stay cancelled."""
        target = _call.path("cancel-jobs", job_id, "stop")
        return self._engine.value(_call.post(target, {}, idempotency_key=idempotency_key), has="id")


class Budgets:
    """`/v1/budgets`: budgets of a day with their spent, reserved and left money."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.budgets`."""
        self._engine = engine

    def list(self, **query: Unpack[PageQuery]) -> Pages[BudgetAnswer]:
        """List budgets with the forecast of the month, newest first."""
        return Pages(self._engine, _call.path("budgets"), {**query})


class Switches:
    """`/v1/switches`: pauses of a producer, type, template, channel, provider or lane."""

    def __init__(self, engine: Engine) -> None:
        """See `Client.switches`."""
        self._engine = engine

    def list(self, **query: Unpack[ListSwitchesQuery]) -> Pages[SwitchAnswer]:
        """List switches, newest first."""
        return Pages(self._engine, _call.path("switches"), {**query})

    def set(
        self, *, idempotency_key: str | None = None, **switch: Unpack[SwitchRequest]
    ) -> SwitchAnswer:
        """Set a switch: matching deliveries wait."""
        call = _call.post(_call.path("switches"), switch, idempotency_key=idempotency_key)
        return self._engine.value(call, has="id")

    def get(self, switch_id: int) -> SwitchAnswer:
        """Return a switch; ended switches stay readable."""
        return self._engine.value(_call.get(_call.path("switches", switch_id)), has="id")

    def resume(self, switch_id: int) -> SwitchAnswer:
        """End the pause; a second call changes nothing."""
        return self._engine.value(
            _call.write("DELETE", _call.path("switches", switch_id)), has="id"
        )
