"""Celery's tasks: thin wrappers around `delivery` and the sweeps.

    deliver_push(ids), deliver_sms(ids) ...   on every lane; retries are Celery retries
    sweep_relay(), sweep_rescue() ...         on `ops`, sent by beat

While the broker is away, `direct` runs the same work from Postgres.
"""

from notifications.tasks import deliver, direct, sweep

__all__ = ["deliver", "direct", "sweep"]
