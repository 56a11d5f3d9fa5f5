"""A certificate that the transport trusts, a transport and a clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from providers.transport import Transport
from tests.certificate import make_certificate
from tests.providers.messages import MovedClock


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    make_certificate(path)
    return path


@pytest.fixture
def transport(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Transport]:
    """Trusts the certificate, and nobody else."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with closing(Transport()) as it:
        yield it


@pytest.fixture
def now() -> MovedClock:
    return MovedClock()
