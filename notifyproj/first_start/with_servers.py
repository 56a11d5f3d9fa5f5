"""The steps of `manage.py init` that need Django's settings: servers, tables, first rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from django.core.management import call_command
from django.core.management.base import CommandError, SystemCheckError
from django.db import Error

from notifications.core import conf
from notifyproj import celery as _configured  # noqa: F401 - the check of the broker needs the app
from notifyproj.first_start import answers, first_rows, servers
from notifyproj.first_start.first_rows import Rows
from notifyproj.first_start.servers import Finding
from notifyproj.first_start.terminal import Question, Refused, Terminal
from providers.contract import Channel

_OWNER: Final = "--owner"


def run(
    terminal: Terminal, *, migrates: bool, owner: str | None, owner_password: str, loads: str
) -> None:
    """Check the servers, create the first rows, and print the next commands.

    Args:
        terminal: asks for what is not given.
        migrates: whether to make the tables without a question.
        owner: the e-mail address of the first administrator; None: not given.
        owner_password: the password of the first administrator; empty: a random one.
        loads: the command that gives a shell the settings; empty: the environment has them.

    Raises:
        Refused: a server is not as it must be, or an answer is wrong or missing.
    """
    try:
        _check(terminal, migrates=migrates)
        name = first_rows.administrator() or _ask_owner(terminal, owner)
        for line in first_rows.create_types():
            _say(terminal, "type", line)
        rows = first_rows.create(owner=name, password=owner_password)
    except Error as error:
        said = str(error).strip().splitlines()[0]
        raise Refused(f"The database ended the command: {said}. Run init again.") from None
    _say_rows(rows, terminal)
    _say_next(rows, terminal, loads=loads)


def _check(terminal: Terminal, *, migrates: bool) -> None:
    bad = _show(servers.database(), terminal)
    if not bad:
        _migrate(terminal, migrates=migrates)
        bad = _show(servers.tables(), terminal)
    bad += _show(servers.memory_servers(), terminal)
    if bad:
        raise Refused("Correct this and run init again. No account and no key was created.")


def _show(findings: Iterable[Finding], terminal: Terminal) -> int:
    """Print the findings and return the number of bad ones."""
    bad = 0
    for each in findings:
        bad += not each.is_good
        _say(terminal, each.subject, f"{'' if each.is_good else 'BAD: '}{each.detail}")
    return bad


def _say(terminal: Terminal, subject: str, detail: str) -> None:
    terminal.say(f"{subject:<12} {detail}")


def _migrate(terminal: Terminal, *, migrates: bool) -> None:
    """Make the tables, if some are missing and a person or a flag asks for it.

    Raises:
        Refused: `migrate` found tables that it cannot upgrade.
    """
    lacking = servers.unapplied()
    if not lacking or not servers.may_migrate():
        return
    asked = f"The database lacks {len(lacking)} migrations. Apply them now?"
    if migrates or terminal.confirm(asked, flag="--migrate"):
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except (CommandError, SystemCheckError) as error:
            raise Refused(str(error)) from None


def _ask_owner(terminal: Terminal, given: str | None) -> str:
    question = Question(
        flag=_OWNER, text="E-mail address of the first administrator", check=answers.owner
    )
    return terminal.answer(question, given=given)


def _say_rows(rows: Rows, terminal: Terminal) -> None:
    if rows.is_new:
        _say(terminal, "account", f"{rows.administrator}, created")
    else:
        _say(terminal, "account", f"{rows.administrator} exists and was not changed;")
        _say(terminal, "", f"manage.py changepassword {rows.administrator} sets a new password")
    if rows.password:
        _say(terminal, "", f"the password, shown only now: {rows.password}")
    if not first_rows.takes_passwords():
        _say(terminal, "", "NOTIFY_PASSWORD_SIGN_IN=no: nobody signs in by password")
    if rows.secret:
        _say(terminal, "key", f"{rows.key}, created for the producer {first_rows.PRODUCER};")
        _say(terminal, "", "the line with export below shows the key, only now")
    else:
        _say(terminal, "key", f"{rows.key} exists; manage.py create_key makes others")


def _say_next(rows: Rows, terminal: Terminal, *, loads: str) -> None:
    url = conf.current().public_url
    terminal.say(f"\nSign in at {url}/admin/. Check the providers, in the environment of init:")
    if loads:
        terminal.say(f"  {loads}")
    terminal.say("  python manage.py check_providers")
    terminal.say("For calls of the API:")
    terminal.say(f"  export NOTIFY_URL='{url}' NOTIFY_KEY='{rows.secret or 'nk_live_...'}'")
    if Channel.EMAIL not in conf.current().routes:
        terminal.say("No provider sends e-mail: docs/providers.md has the settings of each.")
        return
    body = {
        "to": {"email": rows.administrator if "@" in rows.administrator else "you@example.com"},
        "type": "ORDER_CONFIRMATION",
        "content": {"title": "First mail", "body": "It works."},
    }
    data = json.dumps(body)
    terminal.say("Send a first mail, while web, a worker and beat run:")
    terminal.say(
        '  curl "$NOTIFY_URL/v1/notifications" -H "Authorization: Bearer $NOTIFY_KEY" \\\n'
        f"    -H 'Content-Type: application/json' -d '{data}'"
    )
