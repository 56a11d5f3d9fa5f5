"""Load the demo's data. A second run keeps existing rows."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from notifications.core import conf
from notifications.core.delivery import routing
from notifications.core.management import arguments, demo_data
from notifications.core.models import (
    Contact,
    NotificationType,
    Preference,
    Producer,
    ProviderRoute,
    Recipient,
    TopicText,
)
from notifications.core.rules.lane import Mode
from notifications.core.store.postgres import api_keys
from providers.contract import Channel
from providers.push import web_push

PASSWORD: Final = "DEMO_ADMIN_PASSWORD"  # noqa: S105 - the variable's name
VAR: Final = "DEMO_VAR"
KEYS_FILE: Final = "demo_keys.json"
ADMIN: Final = "operator"


class Command(BaseCommand):
    """`manage.py load_demo`."""

    help = "Load the demo's producers, people, types, templates and operator; safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument(
            "--keys-file",
            type=Path,
            default=Path(os.environ.get(VAR, "var")) / KEYS_FILE,
            help=f"JSON of producer -> key, readable by the owner only (${VAR}/{KEYS_FILE}).",
        )
        parser.add_argument(
            "--admin-password",
            type=arguments.text(),
            default=os.environ.get(PASSWORD, ""),
            help=f"Password of the user {ADMIN!r} (${PASSWORD}).",
        )

    def handle(self, *, keys_file: Path, admin_password: str, **_: object) -> None:
        """Load all demo data.

        Raises:
            CommandError: the password is missing, or the keys file cannot be read or written.
        """
        if not admin_password:
            raise CommandError(f"Give --admin-password or set {PASSWORD}.")
        try:
            known = _read_keys(keys_file)
            _load_types()
            _load_topic_texts()
            call_command("import_templates", "--publish", stdout=self.stdout)
            _load_people()
            _load_routes()
            _load_operator(admin_password)
            _load_services(keys_file, known)
        except OSError as error:
            raise CommandError(f"The keys file cannot be read or written: {error}") from error
        self.stdout.write(f"keys in {keys_file}")


def _load_types() -> None:
    for name, (priority, category) in demo_data.TYPES.items():
        NotificationType.objects.get_or_create(
            name=name,
            defaults={
                "priority": priority,
                "category": category,
                "digest_template": demo_data.DIGESTS.get(name, ""),
            },
        )


def _load_topic_texts() -> None:
    TopicText.objects.bulk_create(
        (
            TopicText(topic=topic, locale=locale, name=name)
            for topic, names in demo_data.TOPIC_TEXTS.items()
            for locale, name in names.items()
        ),
        ignore_conflicts=True,
    )


@transaction.atomic
def _load_people() -> None:
    people = {person.user_id: person for person in demo_data.everybody()}
    Recipient.objects.bulk_create(
        (
            Recipient(user_id=person.user_id, locale=person.locale, timezone=person.timezone)
            for person in people.values()
        ),
        ignore_conflicts=True,
    )
    # A recipient with contacts was loaded by an earlier run, and may have been changed since.
    fresh = Recipient.objects.filter(mode=Mode.LIVE, user_id__in=people, contacts=None)
    rows = {row.user_id: row for row in fresh}
    Contact.objects.bulk_create(
        contact for user_id, row in rows.items() for contact in _contacts(row, people[user_id])
    )
    Preference.objects.bulk_create(
        (
            Preference(
                recipient=rows[user_id],
                channels_off=[int(channel) for channel in person.channels_off],
                categories_off=list(person.categories_off),
                caps=dict(person.caps),
            )
            for user_id, person in people.items()
            if user_id in rows and (person.channels_off or person.categories_off or person.caps)
        ),
        ignore_conflicts=True,
    )


def _contacts(row: Recipient, person: demo_data.Person) -> list[Contact]:
    seen: set[Channel] = set()
    made = []
    for channel, kind, address in person.contacts:
        made.append(
            Contact(
                recipient=row,
                channel=channel,
                kind=kind,
                address=address,
                is_primary=channel not in seen,
            )
        )
        seen.add(channel)
    return made


def _load_routes() -> None:
    """Route browsers to web push, if web push has a key, and all other push contacts as before."""
    default = conf.current().routes.get(Channel.PUSH, "")
    if web_push.NAME not in routing.providers_by_name() or default in ("", web_push.NAME):
        return
    for provider, platform in ((default, ""), (web_push.NAME, web_push.NAME)):
        ProviderRoute.objects.get_or_create(
            channel=Channel.PUSH, provider=provider, platform=platform
        )


def _load_operator(password: str) -> None:
    user, _ = get_user_model().objects.get_or_create(
        username=ADMIN, defaults={"is_staff": True, "is_superuser": True}
    )
    if not user.check_password(password):
        user.set_password(password)
        user.save()


def _load_services(keys_file: Path, known: dict[str, str]) -> None:
    for service in demo_data.SERVICES:
        producer, _ = Producer.objects.get_or_create(
            name=service.name,
            defaults={
                "priorities": [int(priority) for priority in service.priorities],
                "may_send_content": True,
            },
        )
        if api_keys.recognise(known.get(service.name, "")) is None:
            _, known[service.name] = api_keys.issue(
                producer, mode=service.mode, scopes=service.scopes, note="demo"
            )
    keys_file.touch(mode=0o600)
    keys_file.write_text(json.dumps(known, indent=2))


def _read_keys(keys_file: Path) -> dict[str, str]:
    """Return the keys created by earlier runs.

    Raises:
        OSError: the file cannot be read.
        CommandError: the file has invalid content.
    """
    try:
        known = json.loads(keys_file.read_text())
    except FileNotFoundError:
        return {}
    except ValueError:
        known = None
    if not isinstance(known, dict) or not all(isinstance(key, str) for key in known.values()):
        raise CommandError(f"{keys_file} is not a JSON object of producer -> key; delete the file.")
    return known
