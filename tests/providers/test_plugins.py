"""A provider of an installed package, as ADDING_A_PROVIDER.md shows it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from providers.conformance import CHECKS
from providers.conformance.http_server import HttpFake

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "providers" / "ADDING_A_PROVIDER.md").read_text()


def block(language: str) -> str:
    """Give the only block of the guide in a language."""
    _, found = GUIDE.split(f"```{language}\n")
    return found.split("```")[0]


class Package:
    """An installed package, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.module = folder / "acme_sms.py"
        self.module.write_text(block("python"))
        project = tomllib.loads(block("toml"))["project"]
        points = project["entry-points"]["notify.providers"]
        self.install(next(f"{name} = {value}" for name, value in points.items()))

    def install(self, point: str) -> None:
        info = self.folder / "acme_sms-1.0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-sms\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[notify.providers]\n{point}\n")

    def replace(self, old: str, new: str) -> None:
        text = self.module.read_text()
        assert old in text
        self.module.write_text(text.replace(old, new))

    def run(self, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([str(ROOT), str(self.folder)])
        return subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, **environ, "PYTHONPATH": paths},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, **environ: str) -> subprocess.CompletedProcess[str]:
        """Load the settings, as each process of the product does."""
        return self.run(str(ROOT / "manage.py"), "check", **environ)


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_the_adapter_of_the_guide_keeps_the_contract(package: Package) -> None:
    done = package.run("-m", "providers.conformance", "acme_sms:subject")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{len(CHECKS)} of {len(CHECKS)} checks passed.\n")


def test_a_broken_adapter_is_told_which_check_failed(package: Package) -> None:
    package.replace('f"Idempotency-Key: {message.idempotency_key}"', '"Idempotency-Key: 1"')
    done = package.run("-m", "providers.conformance", "acme_sms:subject")
    assert done.returncode == 1
    line = (
        "FAILED  keeps_the_key_on_every_try: ContractBroken: another message must carry another key"
    )
    assert line in done.stdout


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        ("acme_sms", "AttributeError: module 'acme_sms' has no attribute ''."),
        ("acme_sms:nothing", "AttributeError: module 'acme_sms' has no attribute 'nothing'."),
        ("no_such_package:subject", "ModuleNotFoundError: No module named 'no_such_package'."),
        (":subject", "ValueError: Empty module name."),
        ("acme_sms:AcmeSms", "AcmeSms.__init__() missing"),
        ("acme_sms:VENDOR", "VENDOR is no function."),
        ("acme_sms:Transport", "the function returns Transport, no context manager."),
        ("io:StringIO", "the context manager yields StringIO, no Subject."),
    ],
)
def test_what_is_no_subject_is_refused(package: Package, target: str, fault: str) -> None:
    done = package.run("-m", "providers.conformance", target)
    assert done.returncode == 2
    assert fault in done.stderr
    assert "Name a function without arguments that returns a context manager" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
def test_the_provider_sends_like_each_other(package: Package) -> None:
    server = HttpFake(key_header="idempotency-key")
    settings = {"NOTIFY_ACME_SMS_URL": server.url, "NOTIFY_ACME_SMS_TOKEN": "only-for-tests"}
    sent = package.run(
        str(ROOT / "manage.py"),
        "send_one",
        "acme_sms",
        "sms",
        "+491701234567",
        "--body=Hello",
        "--yes",
        **settings,
    )
    server.close()
    assert sent.returncode == 0, sent.stdout + sent.stderr
    assert [b"+491701234567" in each.body for each in server.requests] == [True]


def test_a_missing_setting_of_the_provider_is_named(package: Package) -> None:
    ended = package.start(NOTIFY_ACME_SMS_URL="https://acme.example")
    assert ended.returncode == 1
    assert ended.stderr.startswith("NOTIFY_ACME_SMS_TOKEN: ")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("from contextlib", "from contextlip", "ModuleNotFoundError: No module named 'contextlip'"),
        ("metadata=configuration.parse_with(configuration.http_url)", "", "its Config must be"),
        ("class Config:", "class Settings:", "NameError: name 'Config' is not defined"),
        ("VENDOR = Vendor(", "VENDOR = (", "acme_sms:VENDOR is no providers.vendor.Vendor"),
        ('name = "acme_sms"', 'name = "Acme SMS"', "the provider's name 'Acme SMS' must have"),
        ('name = "acme_sms"', 'name = "smtp"', "the name 'smtp' is taken: choose another"),
        ('name = "acme_sms"', 'name = "inbox"', "the name 'inbox' is taken: choose another"),
        ('name = "acme_sms"', 'name = "dry_run"', "the name 'dry_run' is taken: choose another"),
    ],
)
def test_a_package_that_cannot_be_used_ends_the_start(
    package: Package, old: str, new: str, fault: str
) -> None:
    package.replace(old, new)
    ended = package.start()
    assert ended.returncode == 1
    assert ended.stderr.startswith("Entry point acme_sms of acme-sms in notify.providers: ")
    assert fault in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_setting_of_another_provider_is_refused(package: Package) -> None:
    package.replace('name = "acme_sms"', 'name = "aws"')
    package.replace("url: str = field(", "sns_region: str = field(")
    package.replace("NOTIFY_ACME_SMS_URL", "NOTIFY_AWS_SNS_REGION")
    ended = package.start()
    assert "the setting NOTIFY_AWS_SNS_REGION belongs to another provider" in ended.stderr


def test_a_setting_of_the_product_is_refused(package: Package) -> None:
    package.replace('name = "acme_sms"', 'name = "public"')
    ended = package.start()
    assert ended.returncode == 1
    assert ended.stderr.strip() == (
        "NOTIFY_PUBLIC_URL is a setting of the product: rename the provider 'public' (its file or"
        " package), or its setting."
    )
