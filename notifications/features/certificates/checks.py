"""The certificates that end, for `manage.py check --deploy` and for the log of a start."""

from __future__ import annotations

from collections.abc import Iterable

import structlog
from django.core import checks

from notifications.core import clock
from notifications.features.certificates import ends
from notifications.features.certificates.ends import Certificate

_log = structlog.get_logger(__name__)


def check() -> list[checks.CheckMessage]:
    """Return an error for each ended certificate, and a warning for each that ends soon."""
    return [_message(each) for each in _ending([*ends.of_files(), *ends.of_public_url()])]


def log_ends() -> None:
    """Log the certificates in files that end soon or have ended."""
    for each in _ending(ends.of_files()):
        _log.warning("certificate_ends", detail=each.sentence(now=clock.now()))


def _ending(found: Iterable[Certificate]) -> list[Certificate]:
    return [each for each in found if each.ends_within(ends.SOON, now=clock.now())]


def _message(certificate: Certificate) -> checks.CheckMessage:
    now = clock.now()
    said, _, cure = certificate.sentence(now=now).rpartition(": ")
    if certificate.ends_at is not None and certificate.ends_at <= now:
        return checks.Error(said, hint=cure, id="notifications.E004")
    return checks.Warning(said, hint=cure, id="notifications.W005")
