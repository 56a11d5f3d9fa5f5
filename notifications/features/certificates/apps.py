"""The manifest of certificates."""

from __future__ import annotations

from typing import Any

from django.core import checks

from notifications.core import feature
from notifications.core.rules.alerts import AlertKind

_READINESS = "/readyz"


class CertificatesConfig(feature.Feature):
    """Names certificates that end soon or have ended: docs/operations.md."""

    name = "notifications.features.certificates"
    sweeps = (
        feature.FeatureSweep(
            name="certificates",
            run="notifications.features.certificates.sweep.run_once",
            seconds=60,
            limit=100,
            stops="A certificate that ends raises no alert.",
        ),
    )
    alert_pages = (
        (AlertKind.CERTIFICATE_ENDED, _READINESS),
        (AlertKind.CERTIFICATE_ENDS, _READINESS),
    )

    def ready(self) -> None:
        """Connect the check, and log the certificates that end."""
        super().ready()
        checks.register(_check, checks.Tags.security, deploy=True)
        from notifications.features.certificates.checks import log_ends  # noqa: PLC0415 - the settings are ready only now

        log_ends()


def _check(**_others: Any) -> list[checks.CheckMessage]:  # noqa: ANN401 - Django's protocol
    from notifications.features.certificates.checks import check  # noqa: PLC0415 - as above

    return check()
