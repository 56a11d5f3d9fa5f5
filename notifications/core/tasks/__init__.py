"""Celery's tasks: thin wrappers around `delivery` and the sweeps.

    deliver   deliver_push(ids), deliver_sms(ids) ...   on every lane; retries are Celery retries
    sweep     sweep_relay(), sweep_rescue() ...         on `ops`, sent by beat

`slots` limits the concurrent tasks of a worker, which `deliver` watches, `consumer` survives the
loss of the broker, and `metrics` serves the figures of a process. While the broker is
away, `direct` runs the same work from Postgres.
"""

from notifications.core.tasks import deliver, direct, sweep

__all__ = ["deliver", "direct", "sweep"]
