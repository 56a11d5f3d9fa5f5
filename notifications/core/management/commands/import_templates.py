"""Import templates from files; importing unchanged files creates no version."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from notifications.core.management import template_files
from notifications.core.rules.templates.file_format import BrokenFiles
from notifications.core.store.templates import import_export
from notifications.core.store.templates.import_export import ImportEffect

BY: Final = "files"
"""Author of imported drafts and publications."""


def folder() -> Path:
    """Return the folder of the shipped templates."""
    place: Path = settings.BASE_DIR / "templates" / "notifications"
    return place


class Command(BaseCommand):
    """`manage.py import_templates [--dir] [--publish] [--check]`."""

    help = (
        "Import templates from files, as drafts or with --publish as current versions; all or none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("--dir", type=Path, default=folder())
        parser.add_argument("--publish", action="store_true", help="publish the imported versions")
        parser.add_argument(
            "--check", action="store_true", help="change nothing; exit 1 if something would change"
        )

    def handle(self, *, dir: Path, publish: bool, check: bool, **_: object) -> None:  # noqa: A002 - the option's name
        """Import all templates of the folder in a transaction, or report the changes with --check.

        Raises:
            CommandError: a file is invalid, or with --check a template differs (exit code 1).
        """
        try:
            found = dict(template_files.read(dir))
            if check:
                changes = {
                    template_id: import_export.preview(template_id, files, publish=publish)
                    for template_id, files in found.items()
                }
            else:
                changes = import_export.load_all(found, by=BY, publish=publish)
        except BrokenFiles as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{dir} cannot be read: {error}") from error
        for template_id, change in changes.items():
            self.stdout.write(f"{template_id}: {change}")
        if check and set(changes.values()) - {ImportEffect.NOTHING}:
            raise CommandError("the files differ from what is stored")
