"""Beat's one task."""

from __future__ import annotations

from celery import shared_task

from notifications import sweeps


@shared_task(name="tick")
def tick() -> None:
    """Run the sweeps that are due. Twice is once; a missed tick makes them a second late."""
    sweeps.tick()
