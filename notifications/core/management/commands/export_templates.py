"""Export the current version of all templates as files."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from notifications.core.management import template_files
from notifications.core.management.commands import import_templates
from notifications.core.store.templates import import_export


class Command(BaseCommand):
    """`manage.py export_templates [--dir]`."""

    help = "Write each template's current version (or newest draft) as files; safe to repeat."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        parser.add_argument("--dir", type=Path, default=import_templates.folder())

    def handle(self, *, dir: Path, **_: object) -> None:  # noqa: A002 - the option's name
        """Write the files; other files in a template's folder are deleted.

        Raises:
            CommandError: the folder cannot be written.
        """
        try:
            for template_id, files in import_export.export_all():
                changed = template_files.write(dir, template_id, files)
                self.stdout.write(f"{template_id}: {changed} files changed")
        except OSError as error:
            raise CommandError(f"{dir} cannot be written: {error}") from error
