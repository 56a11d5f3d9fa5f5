"""A peer: django-post_office, which stores mails in the database and sends them by Django's SMTP.

    python -m tests.benchmarks.post_office COUNT    creates COUNT mails of a template with
                                                    `mail.send`, sends them as the command
                                                    `send_queued_mail --processes=2` does, and
                                                    prints the seconds

BENCH_DATABASE has the URL of an empty database, BENCH_SMTP_PORT the port of the mail server.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import django
from django.conf import settings
from django.core.management import call_command

from notifyproj.devstack.ports import LOOPBACK
from tests.benchmarks.peer_database import databases

PACKAGE: Final = "django-post_office==3.12.0"
_PROCESSES: Final = 2
_WARM: Final = 50
_TEXT: Final = "Hello {{ name }}, your order {{ order_id }} is on its way."


def main(count: int) -> float:
    """Create and send so many mails; returns the seconds.

    Raises:
        RuntimeError: a mail was not sent.
    """
    settings.configure(
        DATABASES=databases(),
        INSTALLED_APPS=["django.contrib.contenttypes", "post_office"],
        TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
        DEFAULT_AUTO_FIELD="django.db.models.AutoField",
        EMAIL_HOST=LOOPBACK,
        EMAIL_PORT=int(os.environ["BENCH_SMTP_PORT"]),
        POST_OFFICE={"BATCH_SIZE": 1_000, "LOG_LEVEL": 2},
        USE_TZ=True,
    )
    django.setup()
    call_command("migrate", verbosity=0)
    models = importlib.import_module("post_office.models")
    models.EmailTemplate.objects.create(name="order", subject="Your order", content=_TEXT)
    _send(_WARM)
    began = time.perf_counter()
    _send(count)
    seconds = time.perf_counter() - began
    sent = models.Email.objects.filter(status=models.STATUS.sent).count()
    if sent != _WARM + count:
        raise RuntimeError(f"{sent} of {_WARM + count} mails are sent")
    return seconds


def _send(count: int) -> None:
    mail: Any = importlib.import_module("post_office.mail")
    for number in range(count):
        mail.send(
            f"person-{number}@mailbox.example",
            "Shop <no-reply@shop.example>",
            template="order",
            context={"name": f"Ada {number}", "order_id": f"ORD-{number}"},
        )
    with tempfile.TemporaryDirectory() as folder:
        mail.send_queued_mail_until_done(str(Path(folder) / "lock"), _PROCESSES)


if __name__ == "__main__":
    sys.stdout.write(f"{main(int(sys.argv[1]))}\n")
