"""Checks and failures on the host after the first message."""

from __future__ import annotations

import json
from typing import Final

from tests.architecture import units
from tests.debian_host import person
from tests.debian_host.host import Host, HostFailed

_SECRETS: Final = (
    "DATABASE_PASSWORD",
    "REDIS_PASSWORD",
    "NOTIFY_SECRET_KEY",
    "NOTIFY_ENCRYPTION_KEYS",
)
_CODES: Final = [f"{number}" for number in range(700_001, 700_041)]
VARIABLES: Final = "/run/variables"
"""A file with the variables of the person's shell."""
_URL: Final = "https://notify.example.com"


def wait_ready(made: Host) -> None:
    """Wait until all processes serve without a fault."""
    made.wait(lambda: _readiness(made).get("wrong") == [], what="/readyz is ready")
    made.wait(lambda: _answers(made, f"{_URL}/healthz"), what="the proxy answers")
    made.wait(lambda: _answers(made, "http://127.0.0.1:5555/healthcheck"), what="Flower answers")
    failed = made.run("systemctl list-units --failed --plain --no-legend 'notify*'")
    if failed:
        raise HostFailed(failed)


def _readiness(made: Host) -> dict[str, object]:
    text = made.run("curl -s http://127.0.0.1:8000/readyz || true")
    loaded: dict[str, object] = json.loads(text) if text.startswith("{") else {}
    return loaded


def _answers(made: Host, url: str) -> bool:
    return "200" in made.run(f"curl -s -o /dev/null -w '%{{http_code}}' {url} || true")


def _mails(made: Host) -> str:
    return made.log.with_name("mail").read_text()


def first_message(made: Host) -> None:
    """The mail of the last command reaches the mail server, for the first administrator."""
    made.wait(lambda: "It works." in _mails(made), what="the first mail has arrived", seconds=60)
    if f"To: {person.OWNER}" not in _mails(made):
        raise HostFailed(_mails(made))


def secrets_are_narrow(made: Host) -> None:
    """The service's user reads no file of /etc/notify; Flower has no key of the service."""
    readable = made.run("runuser -u notify -- cat /etc/notify/notify.env 2>/dev/null || true")
    if readable:
        raise HostFailed("/etc/notify/notify.env is readable for the user notify")
    for unit, forbidden in {
        "notify-flower": _SECRETS,
        "notify-proxy": (*_SECRETS, "CELERY_BROKER_PASSWORD"),
        "notify-web": ("OWNER_PASSWORD", "NOTIFY_FLOWER_PASSWORD"),
    }.items():
        pid = made.run(f"systemctl show --value --property=MainPID {unit}").strip()
        given = made.run(f"tr '\\0' '\\n' </proc/{pid}/environ")
        shown = [name for name in forbidden if f"\n{name}=" in f"\n{given}"]
        if shown or not given:
            raise HostFailed(f"{unit} has {shown}")
        status = made.run(f"grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/{pid}/status").split()
        if status[1] != "0000000000000000" and unit != "notify-proxy":
            raise HostFailed(f"{unit}: {status}")
        if (status[3], status[5]) != ("1", "2"):
            raise HostFailed(f"{unit}: {status}")


def workers_die_during_calls(made: Host) -> str:
    """Each message arrives although every worker of its lane is killed, and starts again."""
    before = made.run("ls /run/notify").split()
    if not before:
        raise HostFailed("/run/notify has no notes of workers")
    made.run("notify-manage import_templates --publish")
    for half in (_CODES[:20], _CODES[20:]):
        for code in half:
            body = {"to": {"email": "you@example.com"}, "type": "OTP", "channels": ["email"]}
            body |= {"template_id": "otp_v2", "variables": {"code": code}}
            words = f"curl -s --fail-with-body {_URL}/v1/notifications -d '{json.dumps(body)}'"
            heads = '-H "Authorization: Bearer $NOTIFY_KEY" -H "Content-Type: application/json"'
            made.run(f"source {VARIABLES}; {words} {heads}")
        made.run("systemctl kill --signal=KILL 'notify-worker@p0*'")
    made.wait(lambda: all(code in _mails(made) for code in _CODES), what="all codes have arrived")
    counts = [_mails(made).count(f"{code} is your") for code in _CODES]
    restarts = made.run("systemctl show --value --property=NRestarts notify-worker@p0").strip()
    if int(restarts) < 1:
        raise HostFailed("notify-worker@p0 was not started again")
    return f"{len(counts)} messages, {sum(counts) - len(counts)} second copies"


def stops_in_order(made: Host) -> None:
    """The proxy ends before web and live, and those before the workers, none of them killed."""
    folder = made.run("stat --format=%i /run/notify")
    made.run(units.commands("Upgrade")[0])
    ended = {name: _moment(made, name, "InactiveEnter") for name in units.enabled()}
    workers = [moment for name, moment in ended.items() if "worker" in name]
    if not ended["notify-proxy"] <= ended["notify-web"] <= min(workers):
        raise HostFailed(f"another order: {ended}")
    for name in units.enabled() - {"notify.target"}:
        result = made.run(f"systemctl show --value --property=Result {name}").strip()
        if result != "success":
            raise HostFailed(f"{name} ended by {result}")
    if made.run("stat --format=%i /run/notify") != folder:
        raise HostFailed("the workers took /run/notify with them")


def _moment(made: Host, unit: str, what: str) -> int:
    asked = f"systemctl show --value --property={what}TimestampMonotonic {unit}"
    return int(made.run(asked))


def upgrades(made: Host) -> None:
    """The commands of the page's upgrade lead to a host that sends."""
    for command in units.commands("Upgrade"):
        made.run(command)
    wait_ready(made)
    first, web = (
        _moment(made, name, "InactiveExit") for name in ("notify-worker@p0", "notify-web")
    )
    if first > web:
        raise HostFailed("web started before a worker")


def starts_with_the_host(made: Host) -> None:
    """After a cut of the power every process is there again."""
    made.kill()
    made.boot()
    wait_ready(made)


ALL: Final = (
    secrets_are_narrow,
    workers_die_during_calls,
    stops_in_order,
    upgrades,
    starts_with_the_host,
)
