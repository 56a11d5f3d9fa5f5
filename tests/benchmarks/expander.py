"""`python -m tests.benchmarks.expander JOB FIRST`: expand a job; prints two peaks of the memory.

The peaks are in KiB: after the first FIRST recipients, and after the last.
"""

from __future__ import annotations

import resource
import sys

import django


def main(job_id: str, first: str) -> None:
    """Expand the job in this process."""
    django.setup()
    from notifications.core import clock  # noqa: PLC0415 - after Django is set up
    from notifications.core.models import BulkJob  # noqa: PLC0415 - as above
    from notifications.features.bulk_jobs import expand, stages  # noqa: PLC0415 - as above

    job = BulkJob.objects.get(id=job_id)
    examined = 0
    peaks: list[int] = []
    while parts := stages.open_ranges(job, clock.now()):
        examined += expand.expand_page(parts[0]).read
        if not peaks and examined >= int(first):
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    sys.stdout.write(" ".join(map(str, peaks)))


if __name__ == "__main__":
    main(*sys.argv[1:3])
