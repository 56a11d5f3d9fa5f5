"""Celery's side: a task's body is one call into `delivery` or the sweeps.

* `deliver_push(ids)`, `deliver_sms(ids)` ...: on every lane; their retries are Celery's *
`sweep_relay()`, `sweep_rescue()` ...: on `ops`, each in its interval from beat

While the broker is away, `direct` does the work of both from Postgres.
"""

from notifications.tasks import deliver, direct, sweep

__all__ = ["deliver", "direct", "sweep"]
