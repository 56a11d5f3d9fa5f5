"""Writes `docs/access.md` from the code: `python -m tests.architecture.access_page`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import django

from notifications.core.rules.access import AccessRule, Entry, complete
from notifications.core.rules.lane import Mode
from notifications.core.rules.recipient_tokens import TokenScope
from notifications.core.rules.roles import GROUP_PREFIX, RIGHTS, ROLES, grants
from notifications.core.rules.scopes import Scope

PAGE: Final = Path(__file__).parents[2] / "docs" / "access.md"
ACTS: Final[Mapping[str, str]] = {
    "alert.resolve": "change_alert",
    "alertdestination.steer": "change_alertdestination",
    "apikey.revoke": "change_apikey",
    "apikey.rotate": "add_apikey",
    "bulkjob.steer": "change_bulkjob",
    "bulkjob.view": "view_bulkjob",
    "archiveday.read": "read_archive",
    "contact.change": "change_contact",
    "contact.reveal": "see_addresses",
    "deadletter.replay": "replay_deadletter",
    "delivery.resolve": "change_delivery",
    "notification.cancel": "cancel_notification",
    "notification.resend": "add_notification",
    "notification.reveal": "see_addresses",
    "recipient.inbox": "view_delivery",
    "recipient.change": "change_recipient",
    "replayjob.stop": "replay_deadletter",
    "schedule.pause": "change_schedule",
    "series.steer": "change_series",
    "seriesenrolment.stop": "change_seriesenrolment",
    "suppression.add": "add_suppression",
    "suppression.download": "export_list",
    "suppression.reveal": "see_addresses",
    "suppression.undo": "change_suppression",
    "template.view": "view_template",
    "template.write": "change_template",
    "template.publish": "publish_template",
    "tokensecret.revoke": "change_tokensecret",
    "tokensecret.rotate": "add_tokensecret",
    "webhookendpoint.steer": "change_webhookendpoint",
    "signin.end": "change_user",
    "user.reset": "change_user",
}
"""Buttons and actions of the admin, by model and permission -> the right that they need."""


def text() -> str:
    """The page as it has to be."""
    return "\n".join([*_scopes_and_operations(), *_roles_and_buttons()])


def _scopes_and_operations() -> list[str]:
    return [
        "# Who may do what",
        "",
        "This page is generated from `access.py` and `roles.py` in `notifications/core/rules` by",
        "`python -m tests.architecture.access_page`. The API checks each request by the table.",
        "",
        "## Scopes of API keys",
        "",
        "`manage.py create_key` gives `notifications:*` unless `--scopes` names others.",
        "",
        "| scope | meaning |",
        "| --- | --- |",
        *(f"| `{each}` | {each.sentence} |" for each in Scope),
        "",
        "## Scopes of recipient tokens",
        "",
        "A recipient token acts for its own recipient only. A key gives a token only scopes that",
        "the key has itself.",
        "",
        "| scope | meaning |",
        "| --- | --- |",
        *(f"| `{each}` | {each.sentence} |" for each in TokenScope),
        "",
        "## Operations",
        "",
        "A word behind a path names a part of the body that needs a further scope. The right is",
        "what an operator needs for the same act in the admin.",
        "",
        "| operation | needs | live key | test key | right in the admin | roles with it |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(_line, sorted(complete(), key=_path)),
        "",
    ]


def _roles_and_buttons() -> list[str]:
    return [
        "## Roles of operators",
        "",
        "`manage.py migrate` makes a group for each role and keeps its rights as they stand in",
        "`notifications/core/rules/roles.py`. A group of another name is yours. Superusers may do",
        "everything. A person gives a key only scopes that the person's own rights cover.",
        "",
        "| group | rights |",
        "| --- | --- |",
        *(
            f"| `{GROUP_PREFIX}{role}` | {', '.join(f'`{each}`' for each in rights)} |"
            for role, rights in ROLES.items()
        ),
        "",
        "## Rights with plain names",
        "",
        "Beside Django's rights to view, add, change and delete, a group can have these rights.",
        "",
        "| right | name in the admin | roles with it |",
        "| --- | --- | --- |",
        *(
            f"| `{right}` | {name} | {', '.join(having(right))} |"
            for right, (_, name) in RIGHTS.items()
        ),
        "",
        "Without `see_addresses` pages, lists and files show `m***@example.com` or `+49 *** 123`.",
        "With the right a contact's page has the button `Show the address`, and a message's page",
        "downloads of attachments; the audit log has each `see_address` and `download_attachment`.",
        "",
        "## Buttons of the admin",
        "",
        "| model and button | right | roles with it |",
        "| --- | --- | --- |",
        *(
            f"| `{act}` | `{right}` | {', '.join(having(right))} |"
            for act, right in sorted(ACTS.items())
        ),
        "",
    ]


def having(right: str) -> list[str]:
    """Return the roles with a right."""
    return [role for role in ROLES if grants(role, right)]


def _path(rule: AccessRule) -> tuple[str, str]:
    method, _, path = rule.operation.partition(" ")
    return path, method


def _line(rule: AccessRule) -> str:
    live, test = ("yes" if mode in rule.modes else "no" for mode in (Mode.LIVE, Mode.TEST))
    needs = rule.needs if isinstance(rule.needs, Entry) else f"`{rule.needs}`"
    if rule.token_scope:
        needs += f", or a recipient token with `{rule.token_scope}`"
    if isinstance(rule.needs, Entry):
        live = test = ""
    test += f": {rule.why_live}" if rule.why_live else ""
    right = f"`{rule.right}`" if rule.right else ""
    roles = ", ".join(having(rule.right)) if rule.right else ""
    return f"| `{rule.operation}` | {needs} | {live} | {test} | {right} | {roles} |"


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "notifyproj.settings")
    django.setup()  # adds the rules of operations
    PAGE.write_text(text())
