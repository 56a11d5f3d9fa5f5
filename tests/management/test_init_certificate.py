"""`manage.py init` names a certificate with which the proxy or a browser would fail."""

from __future__ import annotations

import datetime as dt
import shutil
from pathlib import Path

import pytest

from notifications.core import clock
from notifyproj.first_start import certificate, command, first_settings
from tests.certificate import make_certificate


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    """A folder with a certificate for localhost that ends tomorrow, and its key."""
    folder = tmp_path / "tls"
    folder.mkdir()
    make_certificate(folder / certificate.CHAIN)
    shutil.copy(folder / certificate.CHAIN, folder / certificate.KEY)
    return folder


def _said(folder: Path, *, host: str = "localhost", days: int = 0) -> str:
    now = clock.host() + dt.timedelta(days=days)
    try:
        return " ".join(certificate.check(folder, name="./tls", host=host, now=now))
    except certificate.Unusable as error:
        return str(error)


def test_a_certificate_that_ends_tomorrow_is_named(
    tls: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "The certificate ends in 2" in _said(tls)  # 23 hours
    for name in (*first_settings.SERVERS, "NOTIFY_PUBLIC_URL", "TLS_FOLDER"):
        monkeypatch.delenv(name, raising=False)
    flags = ["--public-url=https://localhost", "--mail-url=smtp://localhost", "--skip-mail-check"]
    assert (
        command.main([f"--folder={tmp_path}", "--no-input", "--mail-from=a@b.example", *flags]) == 0
    )
    assert "The certificate ends in 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("host", "days", "said"),
    [
        ("localhost", 3, "ended on"),
        ("localhost", -3, "set the clock (NTP) or renew"),
        ("notify.example.org", 0, "is for localhost, 127.0.0.1, not for notify.example.org"),
        ("127.0.0.1", 0, "The certificate ends"),
    ],
)
def test_a_certificate_of_another_host_or_time_is_named(
    host: str, days: int, said: str, tls: Path
) -> None:
    assert said in _said(tls, host=host, days=days)


def test_a_key_of_another_certificate_is_named(tls: Path) -> None:
    make_certificate(tls / certificate.KEY)
    assert "privkey.pem is not the key of the certificate" in _said(tls)
    (tls / certificate.KEY).write_text("no key")
    assert "privkey.pem has no private key" in _said(tls)
    (tls / certificate.CHAIN).write_text("no certificate")
    assert "fullchain.pem has no certificate" in _said(tls)


def test_missing_and_closed_files_are_named(tls: Path) -> None:
    (tls / certificate.KEY).chmod(0o600)
    assert "sudo chown 101 ./tls/privkey.pem" in _said(tls)
    (tls / certificate.KEY).unlink()
    assert "privkey.pem not found in ./tls" in _said(tls)
