"""The demo: starts the product from an empty checkout in one terminal.

    servers -> migrate -> demo data, static files -> processes -> all ready -> stories
            -> stay until Ctrl-C

The terminal shows progress and problems; the processes' output is in `var/log`. Ctrl-C or SIGTERM
at any point stops every process, the servers last. A failure is a line with the cause.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ec

from notifications.core.management.demo_data import TUTORIAL
from notifyproj import environment
from notifyproj.devstack.ports import LOOPBACK, is_free
from notifyproj.devstack.servers import EmbeddedError, Stack
from notifyproj.devstack.servers.errors import plain_words
from notifyproj.devstack.supervisor import handle
from notifyproj.devstack.supervisor.process import (
    ROOT,
    Process,
    ProcessFailed,
    ProcessGroup,
    kill_leftovers,
    mark,
)
from notifyproj.devstack.supervisor.programs import PROGRAMS, Answers, Ports
from notifyproj.processes import app

VAR: Final = ROOT / "var"
_WATCH_SECONDS: Final = 0.3
"""Pause between two checks of the processes."""
_INTERRUPTED: Final = 130
_SHOWN_ERRORS: Final = 3
"""Last errors of a process's log shown after a story that failed."""
COLLECT: Final = ("--clear", "--noinput", "--ignore=redoc", "--ignore=rest_framework")
"""Options of `collectstatic`, as in the Dockerfile."""
_SANDBOX: Final = tuple(f"providers.sandbox_server.{name}" for name in ("app", "receipts", "wire"))
"""Modules of the sandbox, which the supervisor loads for its fork."""
_OTHER_TABLES: Final = "notifications.E001"
"""Id of the check that refuses the tables of another version."""


def run(ports: Ports, *, stay: bool, stories: bool = True) -> int:
    """Run the demo; return the exit code of the stories, or 1 if the demo could not run.

    Ctrl-C during the start or the stories gives the exit code 130.
    With `stay` the demo continues after the stories until Ctrl-C or `make stop`; without `stay`
    the demo ends after the stories. Without `stories` the demo sends no message.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        kill_leftovers(VAR)
        _check_ports(ports)
        VAR.mkdir(exist_ok=True)
        _tell("Starting PostgreSQL and two Valkeys")
        with Stack("demo", root=ROOT) as stack:
            return _run_on(stack, ports=ports, stay=stay, stories=stories)
    except (EmbeddedError, ProcessFailed, environment.InvalidEnvironment) as error:
        _tell(f"Cannot run the demo. {error}")
        return 1
    except OSError as error:
        _tell(f"Cannot run the demo. {plain_words(error, path=VAR)}")
        return 1
    except KeyboardInterrupt:
        _tell("Stopped.")
        return _INTERRUPTED


def _run_on(stack: Stack, *, ports: Ports, stay: bool, stories: bool) -> int:
    settings = _settings(stack.urls(), ports=ports)
    environment.load(settings)
    with ThreadPoolExecutor() as beside:
        collected = beside.submit(_manage, "collectstatic", settings, *COLLECT)
        _migrate(settings, data=stack.folder)
        _manage("load_demo", settings)
        collected.result()
    crew = crew_of(settings, ports=ports, var=VAR, report=_tell)
    try:
        crew.start()
        _wait_healthy(crew)
        handle.show(settings, var=VAR)
        _tell_urls(settings, ports=ports)
        code = _play_stories(crew, settings) if stories else 0
        if stay:
            _tell_first_request(settings)
            _stay(crew)
    finally:
        handle.hide(var=VAR)
        # Another Ctrl-C from here on would leave processes behind.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _tell("Stopping every process")
        crew.stop()
    return code


def crew_of(
    settings: Mapping[str, str], *, ports: Ports, var: Path, report: Callable[[str], None]
) -> ProcessGroup:
    """Load the app into this process and return the processes of the product, with empty logs."""
    if app.CAN_FORK:
        app.load(settings, further=_SANDBOX)
    environ = mark(settings, var=var)
    processes = [
        Process(each, ports=ports, environ=environ, var=var, forks=app.CAN_FORK)
        for each in PROGRAMS
    ]
    for process in processes:
        process.log.unlink(missing_ok=True)  # a log per run, so that logs stay small
    return ProcessGroup(processes, report=report)


def _settings(urls: Mapping[str, str], *, ports: Ports) -> dict[str, str]:
    """Return the environment of every process; the caller's variables override the defaults."""
    public_url = f"http://{LOOPBACK}:{ports.web}"
    defaults = {
        "NOTIFY_PUBLIC_URL": public_url,
        "NOTIFY_ALLOWED_HOSTS": "localhost",
        "NOTIFY_LIVE_URL": f"http://{LOOPBACK}:{ports.live}",
        "NOTIFY_FLOWER_URL": f"http://{LOOPBACK}:{ports.flower}",
        "NOTIFY_SANDBOX_URL": f"http://{LOOPBACK}:{ports.sandbox}",
        "NOTIFY_ROUTES": "push=sandbox,sms=sandbox,email=sandbox,webhook=sandbox,chat=sandbox",
        # The stories send a recipient more messages in a minute than the default caps of a day.
        "NOTIFY_CAPS": "none",
        "NOTIFY_WEB_PUSH_SUBJECT": "mailto:demo@sandbox.example",
        # A producer's receiver on this machine, such as the sandbox's, gets status webhooks.
        "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",
        "DEMO_VAR": str(VAR),
        **demo_secrets(VAR),
    }
    return {**defaults, **os.environ, **urls, "PYTHONUNBUFFERED": "1"}


def _check_ports(ports: Ports) -> None:
    """Check that every port is free.

    Raises:
        ProcessFailed: another program listens on a port.
    """
    for name, port in asdict(ports).items():
        if not is_free(port):
            raise ProcessFailed(
                f"Port {port} ({name}) is taken by another program: stop it, or choose another"
                f" with `make demo {name.upper()}_PORT={port + 1}`."
            )


def _migrate(settings: Mapping[str, str], *, data: Path) -> None:
    """Run `migrate`.

    Raises:
        ProcessFailed: the command failed; for tables of another version with the command that
            removes the servers' `data`.
    """
    try:
        _manage("migrate", settings)
    except ProcessFailed:
        report = (VAR / "log" / "migrate.log").read_text(errors="replace")
        if _OTHER_TABLES not in report or "DATABASE_URL" in os.environ:
            raise
        raise ProcessFailed(
            "Its database is of another version before 1.0. This version cannot upgrade the"
            f" tables and has changed nothing. Remove the demo's data: rm -rf {data}"
        ) from None


def _manage(command: str, settings: Mapping[str, str], *options: str) -> None:
    """Run a management command with its output in a log.

    Raises:
        ProcessFailed: the command failed.
    """
    _tell(f"manage.py {command}")
    log = VAR / "log" / f"{command}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        done = subprocess.run(
            [sys.executable, "manage.py", command, *options],
            cwd=ROOT,
            env=settings,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode != 0:
        lines = log.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
        refused = (line for line in lines if _OTHER_TABLES in line)
        raise ProcessFailed(
            f"manage.py {command} failed: {next(refused, lines[-1])} (all of it: {log})"
        )


def _wait_healthy(crew: ProcessGroup) -> None:
    """Wait until the web process reports a database, a broker and running sweeps as ready."""
    web = next(process for process in crew.processes if process.name == "web")
    web.wait_ready(sign=Answers("web", "/readyz"))


def _play_stories(crew: ProcessGroup, settings: Mapping[str, str]) -> int:
    """Play the stories on this terminal, restart dead processes, and return the exit code."""
    with subprocess.Popen(
        [sys.executable, "-m", "notifyproj.devstack.demo"], cwd=ROOT, env=settings
    ) as stories:
        try:
            while stories.poll() is None:
                crew.restart_dead()
                _wait(stories)
        except BaseException:
            stories.terminate()
            raise
    if stories.returncode:
        _tell_errors(crew)
    return stories.returncode


def _tell_errors(crew: ProcessGroup) -> None:
    for process in crew.processes:
        lines = process.log.read_text(errors="replace").splitlines()
        for line in [each for each in lines if '"level":"error"' in each][-_SHOWN_ERRORS:]:
            _tell(f"{process.name}: {line}")


def _stay(crew: ProcessGroup) -> None:
    """Restart dead processes until Ctrl-C or SIGTERM."""
    _tell("The demo goes on. Ctrl-C or `make stop` stops it; `make shell` is for manage.py.")
    try:
        while True:
            crew.restart_dead()
            time.sleep(_WATCH_SECONDS)  # noqa: TID251 - this is the supervisor, not a worker
    except KeyboardInterrupt:
        return


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_WATCH_SECONDS)
    except subprocess.TimeoutExpired:
        return


def _tell_urls(settings: Mapping[str, str], *, ports: Ports) -> None:
    here = f"http://{LOOPBACK}"
    user, password = "operator", settings["NOTIFY_FLOWER_PASSWORD"]
    _tell(f"Admin     {here}:{ports.web}/admin/  {user} / {settings['DEMO_ADMIN_PASSWORD']}")
    _tell(f"Docs      {here}:{ports.web}/docs/  `make docs` adds search and diagrams")
    _tell(f"API docs  {here}:{ports.web}/v1/docs")
    _tell(f"Inbox     {here}:{ports.web}/demo/inbox  the web component, with a form that sends")
    _tell(
        f"Flower    {here}:{ports.flower}/  {settings.get('NOTIFY_FLOWER_USER', user)} / {password}"
    )
    _tell(f"Sandbox   {here}:{ports.sandbox}/  what phones and mailboxes got")
    _tell(f"Webhooks  {here}:{ports.sandbox}/webhooks  a receiver of status webhooks")


def _tell_first_request(settings: Mapping[str, str]) -> None:
    keys = json.loads((VAR / "demo_keys.json").read_text())
    _tell("From another terminal: two lines for every example of the documentation, and a request:")
    print(
        f"""
    export NOTIFY_URL={settings["NOTIFY_PUBLIC_URL"]}
    export NOTIFY_KEY={keys[TUTORIAL]}

    curl -s "$NOTIFY_URL/v1/notifications" -H "Authorization: Bearer $NOTIFY_KEY" \\
      -H 'Content-Type: application/json' \\
      -d '{{"user_id": "u_789012", "type": "ORDER_READY", "template_id": "order_ready_v3",
           "variables": {{"restaurant": "Burger Palace", "order_id": "ORD-4521"}},
           "channels": ["push"]}}'
""",
        flush=True,
    )


def _tell(line: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {line}", flush=True)


def demo_secrets(var: Path) -> dict[str, str]:
    """Return the secrets by variable, and create missing secrets; raises OSError for no access.

    The file `var/demo.json` is readable by its owner alone. The secrets last as long as the data of
    the demo, because a new encryption key cannot decrypt old data.
    """
    path = var / "demo.json"
    try:
        known: dict[str, str] = json.loads(path.read_text())
    except FileNotFoundError:
        known = {}
    fresh = {**_fresh_secrets(), **known}
    if fresh != known:
        path.touch(mode=0o600)
        path.write_text(json.dumps(fresh, indent=2))
    return fresh


def _fresh_secrets() -> dict[str, str]:
    return {
        "NOTIFY_SECRET_KEY": secrets.token_hex(32),
        "NOTIFY_ENCRYPTION_KEYS": Fernet.generate_key().decode(),
        "NOTIFY_FLOWER_PASSWORD": secrets.token_urlsafe(12),
        "NOTIFY_SANDBOX_SECRET": _signing_secret(),
        "NOTIFY_WEBHOOK_SECRETS": _signing_secret(),
        "NOTIFY_WEB_PUSH_PRIVATE_KEY": _vapid_key(),
        "DEMO_ADMIN_PASSWORD": secrets.token_urlsafe(12),
    }


def _vapid_key() -> str:
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return base64.urlsafe_b64encode(number.to_bytes(32, "big")).rstrip(b"=").decode()


def _signing_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()
