"""Celery's door: a task's body is one call into the pipeline or the sweeps.

deliver(ids)   on every lane; acks late; its retries are Celery's `retry(countdown=...)`
tick()         on `ops`, once a second from beat
"""

from notifications.tasks.deliver import deliver
from notifications.tasks.tick import tick

__all__ = ["deliver", "tick"]
