"""A person's part between the commands of the page: settings, passwords, a certificate."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

MAIL: Final = 2525
"""The port of the mail server on the host."""
OWNER: Final = "you@example.com"
"""The first administrator, to whom the first mail goes."""
PASSWORDS: Final = {
    "DATABASE_PASSWORD": r"""$HOME ${PATH} #"d" b\slash %h `x` =;""",
    "OWNER": r"""it's #"o" $HOME \\ %n `y`""",
    "REDIS_PASSWORD": r"""it's $HOME #"r" \n %i""",
    "CELERY_BROKER_PASSWORD": r"""'$x' #"b"\ %%h""",
    "NOTIFY_FLOWER_PASSWORD": r"""f'$HOME #"\t%H""",
}
"""Each has characters that a shell, Compose, systemd, Redis or a URL reads in another way."""


def quoted(value: str) -> str:
    """Return a value as the page says that files in /etc/notify have it."""
    if "'" not in value:
        return f"'{value}'"
    return '"' + re.sub(r'(["\\`$])', r"\\\1", value) + '"'


def edit(root: Path) -> None:
    """Set the mail server, and passwords of each character in place of the random ones."""
    app, owner = PASSWORDS["DATABASE_PASSWORD"], PASSWORDS["OWNER"]
    broker = {"CELERY_BROKER_PASSWORD": PASSWORDS["CELERY_BROKER_PASSWORD"]}
    state = {"REDIS_PASSWORD": PASSWORDS["REDIS_PASSWORD"]}
    smtp = {"NOTIFY_SMTP_URL": f"smtp://127.0.0.1:{MAIL}"}
    flower = {"NOTIFY_FLOWER_PASSWORD": PASSWORDS["NOTIFY_FLOWER_PASSWORD"]}
    for name, values in {
        "notify.env": {"DATABASE_PASSWORD": app, **broker, **state, **smtp},
        "owner.env": {"DATABASE_PASSWORD": owner},
        "roles.env": {"OWNER_PASSWORD": owner, "APP_PASSWORD": app},
        "flower.env": {**broker, **flower},
    }.items():
        _set(root / "etc/notify" / name, values)
    for server, values in {"state": state, "broker": broker}.items():
        file = root / "etc/redis" / f"redis-notify-{server}.conf"
        [password] = values.values()
        escaped = re.sub(r'(["\\])', r"\\\1", password)
        first, _ = file.read_text().splitlines()
        file.write_text(f'{first}\nrequirepass "{escaped}"\n')


def _set(file: Path, values: dict[str, str]) -> None:
    text = file.read_text()
    for name, value in values.items():
        [old] = re.findall(rf"^{name}=.*$", text, re.MULTILINE)
        text = text.replace(old, f"{name}={quoted(value)}")
    file.write_text(text)


def pasted(shown: str) -> list[str]:
    """Return the commands for a shell in the last lines of `init`, that of two lines as one."""
    text = shown.replace("\r", "")
    return re.findall(r"^ +((?:export |curl ).*?(?:\\\n.*)?)$", text, re.MULTILINE)


def certify(root: Path) -> None:
    """Put a certificate of the page's host name into root's folder, and trust it on the host."""
    key, certificate = root / "root/privkey.pem", root / "root/fullchain.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days=2"]
    words += ["-keyout", str(key), "-out", str(certificate), "-subj=/CN=notify.example.com"]
    words += ["-addext", "subjectAltName=DNS:notify.example.com"]
    subprocess.run(["/usr/bin/env", *words], check=True, capture_output=True)
    with (root / "etc/ssl/certs/ca-certificates.crt").open("a") as trusted:
        trusted.write(certificate.read_text())
