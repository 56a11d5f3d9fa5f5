"""Files for translators: `manage.py translate_templates export texts.de.xlf --to de`."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from notifications.core.management.actor import actor
from notifications.core.models import Template
from notifications.core.store.templates import versions
from notifications.core.store.templates.rows import ONE_OFF
from notifications.features.template_studio import translations
from notifications.features.template_studio.rules.units import Translation, WrongTranslation
from notifications.features.template_studio.translations import NothingToTranslate


class Command(BaseCommand):
    """`manage.py translate_templates export FILE --to LOCALE | import FILE`."""

    help = (
        "Export the texts of templates for translators as XLIFF 1.2 (.xlf) or CSV (.csv), and"
        " import a translated file as drafts; all or none. Publishes nothing; safe to repeat."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Define the arguments."""
        verbs = parser.add_subparsers(dest="verb", required=True)
        export = verbs.add_parser("export", help="write the texts of the newest versions")
        export.add_argument("--to", required=True, metavar="LOCALE", help="target language")
        export.add_argument(
            "--from",
            default="",
            dest="source",
            metavar="LOCALE",
            help="source language; default: the default locale of each template",
        )
        export.add_argument(
            "--template",
            action="append",
            default=[],
            dest="templates",
            metavar="ID",
            help="a template, which may be repeated; default: all with words in the language",
        )
        for each in (export, verbs.add_parser("import", help="draft the translations of a file")):
            each.add_argument("file", type=Path, help="a path that ends with .xlf or .csv")

    def handle(self, *, verb: str, file: Path, **options: object) -> None:
        """Export or import the file.

        Raises:
            CommandError: a template or a locale is unknown, or the file cannot be used.
        """
        try:
            if verb == "export":
                self._export(file, **options)
            else:
                self._import(file)
        except WrongTranslation as error:
            raise CommandError(f"{file}: {error}") from error
        except OSError as error:
            raise CommandError(f"{file} cannot be opened: {error}") from error

    def _export(self, file: Path, **options: object) -> None:
        file_format = translations.format_of(file.name)
        source, names = str(options["source"]), options["templates"]
        wanted = names if isinstance(names, list) and names else None
        found = list(_translations(wanted, source=source, target=str(options["to"])))
        if not found:
            raise WrongTranslation("no template has words in the source language")
        file.write_bytes(translations.write(found, file_format))
        for each in found:
            self.stdout.write(f"{each.template_id}: {len(each.units)} texts from {each.source}")

    def _import(self, file: Path) -> None:
        file_format = translations.format_of(file.name)
        with file.open("rb") as opened:
            data = opened.read(translations.MAX_BYTES + 1)
        files = translations.read(data, file_format)
        for each in translations.load(files, by=actor("translate_templates")):
            self.stdout.write(f"{each.version} {each.locale}: {each.effect}")


def _translations(names: list[str] | None, *, source: str, target: str) -> Iterator[Translation]:
    """Yield the units of templates; without names, of each that has words in the language.

    Raises:
        WrongTranslation: a named template or a locale is unknown.
        NothingToTranslate: a named template has no words in the language.
    """
    listed = Template.objects.exclude(ONE_OFF).order_by("template_id")
    every = listed.values_list("template_id", flat=True)
    for name in names or every.distinct():
        version = versions.newest(name)
        if version is None:
            raise WrongTranslation(f"there is no template {name!r}")
        origin = source or version.default_locale
        try:
            yield translations.units_of(version, source=origin, target=target)
        except NothingToTranslate:
            if names:
                raise
