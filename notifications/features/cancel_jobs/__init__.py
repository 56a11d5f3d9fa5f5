"""Cancel jobs: cancel all notifications of a filter, with progress.

    jobs     start, preview, steps and stop of a job
    sweep    the steps of open jobs

Bulk jobs need this feature: the cancellation of a bulk job ends with a cancel job. The cancellation
of one notification (`scheduling.cancel`) is in the core. The table is there too, because an erasure
changes the rows also without the feature.
"""
