"""The process's limit of open descriptors, which bounds the connections of a server."""

from __future__ import annotations

import resource


def allow_descriptors(wanted: int) -> None:
    """Raise the process's limit of descriptors to `wanted`, at most to the hard limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
