"""Celery's side: a task's body is one call into the pipeline or the sweeps.

deliver_push(ids), deliver_sms(ids) ...   on every lane; their retries are Celery's
tick()                                    on `ops`, once a second from beat
"""

from notifications.tasks import deliver, direct, sweep

__all__ = ["deliver", "direct", "sweep"]
