"""The sweep `certificates`: an alert before the end of a certificate, and another after it.

It may run twice, late or never: each run reads all certificates again. A certificate that cannot be
read has the end that its open alert names: a host may not reach its own public address. The subject
of an alert is the setting with the file or the host, so an alert ends when the setting names
another one.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts
from notifications.core.sweeps.rounds import Swept
from notifications.features.certificates import ends
from notifications.features.certificates.ends import Certificate

_KINDS: Final = (AlertKind.CERTIFICATE_ENDED, AlertKind.CERTIFICATE_ENDS)


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise the alerts of certificates that end; resolve the alerts of renewed certificates."""
    del limit  # an installation has less than ten certificates
    known = alerts.open_details(_KINDS)
    found = [_with_known_end(each, known) for each in (*ends.of_files(), *ends.of_public_url())]
    unread = {each.subject for each in found if each.ends_at is None}
    raised = {(kind, each.subject): each for each in found if (kind := _kind(each, now=now))}
    for (kind, subject), each in raised.items():
        alerts.raise_once(kind, subject, each.sentence(now=now))
    over = [
        (kind, subject)
        for kind in _KINDS
        for subject in alerts.open_subjects(kind) - unread
        if (kind, subject) not in raised
    ]
    alerts.resolve_each(over)
    return Swept(len(over))


def _with_known_end(certificate: Certificate, details: Mapping[str, str]) -> Certificate:
    """Return a certificate that could not be read with the end of its open alert, if any."""
    if certificate.ends_at is not None or certificate.subject not in details:
        return certificate
    return replace(certificate, ends_at=ends.end_in(details[certificate.subject]))


def _kind(certificate: Certificate, *, now: dt.datetime) -> AlertKind | None:
    if certificate.ends_within(dt.timedelta(0), now=now):
        return AlertKind.CERTIFICATE_ENDED
    return AlertKind.CERTIFICATE_ENDS if certificate.ends_within(ends.SOON, now=now) else None
