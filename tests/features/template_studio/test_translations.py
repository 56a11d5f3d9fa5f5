"""An import of translations makes one draft of all texts, or no draft, and no version."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.core.models import AuditEntry, Template
from notifications.core.rules import csv_lines
from notifications.core.rules.templates import contents
from notifications.core.rules.texts.wording import TextSource
from notifications.core.store.templates import versions
from notifications.core.store.templates.import_export import ImportEffect
from notifications.features.template_studio import translations
from notifications.features.template_studio.rules.units import WrongTranslation
from notifications.features.template_studio.translations import FileFormat
from providers.contract import Channel

pytestmark = pytest.mark.django_db


def make(template_id: str = "order", body: str = "It is due, {{ name }}") -> Template:
    texts = [
        contents.words(Channel.PUSH, "en", title="Hi", body=body),
        contents.words(Channel.SMS, "fr", body="Bonjour"),
    ]
    return versions.draft(template_id, contents.content(texts, {"default_locale": "en"}), by="ana")


def file_of(version: Template, *, target: str = "de") -> bytes:
    """Return an XLIFF file in which each text is in capitals, and the variables as they are."""
    found = translations.units_of(version, source="en", target=target)
    units = [
        replace(unit, target=unit.source.upper().replace("NAME", "name")) for unit in found.units
    ]
    return translations.write([replace(found, units=units)], FileFormat.XLIFF)


def load(data: bytes) -> list[translations.Imported]:
    return translations.load(translations.read(data, FileFormat.XLIFF), by="maria")


def texts(version: Template) -> dict[str, TextSource]:
    return {text.label: text for text in versions.content_of(version).texts}


def test_an_import_drafts_the_language_and_publishes_nothing() -> None:
    version = versions.publish(make(), by="ana")
    [imported] = load(file_of(version))
    made = imported.version
    assert (imported.effect, made.version, made.published_at) == (ImportEffect.DRAFT, 2, None)
    assert (made.created_by, made.note) == ("maria", "Translation from en to de")
    assert sorted(texts(made)) == ["push de", "push en", "sms fr"]
    assert texts(made)["push de"].body == "IT IS DUE, {{ name }}"
    assert versions.current("order") == version
    [entry] = AuditEntry.objects.filter(operation="import_translation")
    assert entry.by == "maria"


def test_a_second_import_of_a_file_changes_nothing() -> None:
    data = file_of(make())
    load(data)
    [again] = load(data)
    assert (again.effect, again.version.version) == (ImportEffect.NOTHING, 2)
    assert Template.objects.count() == 2


def test_two_languages_one_after_the_other_come_into_one_version() -> None:
    version = make()
    german, dutch = file_of(version), file_of(version, target="nl")
    load(german)
    [imported] = load(dutch)
    assert sorted(texts(imported.version)) == ["push de", "push en", "push nl", "sms fr"]


def test_a_source_text_that_changed_meanwhile_is_told_and_nothing_is_imported() -> None:
    data = file_of(make())
    make(body="It is late, {{ name }}")
    with pytest.raises(WrongTranslation, match=r"push\.body#\w+: the source text has changed"):
        load(data)
    assert Template.objects.count() == 2


def test_a_fault_in_one_template_imports_none() -> None:
    good, bad = file_of(make("abc")), file_of(make("xyz"))
    Template.objects.get(template_id="xyz").delete()
    files = [
        *translations.read(good, FileFormat.XLIFF),
        *translations.read(bad, FileFormat.XLIFF),
    ]
    with pytest.raises(WrongTranslation, match="there is no template 'xyz'"):
        translations.load(files, by="maria")
    assert Template.objects.count() == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('target-language="de"', 'target-language="klingon"', "'klingon' is no known locale"),
        ('target-language="de"', 'target-language="EN"', "are the same: en"),
        ('source-language="en"', 'source-language="it"', "order has no text in it"),
        ('original="order"', 'original="&#127;"', "there is no template"),
        ("{{ name }}", "", "the variable name is missing"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(old: str, new: str, told: str) -> None:
    data = file_of(make()).decode()
    assert old in data
    begin, target, rest = data.rpartition("<target") if old == "{{ name }}" else ("", "", data)
    with pytest.raises(WrongTranslation, match=told):
        load((begin + target + without_tag(rest, old).replace(old, new)).encode())
    assert Template.objects.count() == 1


def without_tag(text: str, inner: str) -> str:
    return text.replace(f'<ph id="1">{inner}</ph>', inner)


def test_a_file_without_a_translation_or_with_too_many_bytes_is_refused() -> None:
    found = translations.units_of(make(), source="en", target="de")
    for file_format in FileFormat:
        with pytest.raises(WrongTranslation, match="the file has no translation"):
            translations.read(translations.write([found], file_format), file_format)
        with pytest.raises(WrongTranslation, match="larger than 8 MiB"):
            translations.read(b"x" * (translations.MAX_BYTES + 1), file_format)


def run(*arguments: str) -> str:
    output = io.StringIO()
    call_command("translate_templates", *arguments, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize("ending", ["xlf", "csv"])
def test_the_command_takes_all_templates_out_and_in(tmp_path: Path, ending: str) -> None:
    make("abc")
    versions.publish(make("xyz"), by="ana")
    german = contents.content([contents.words(Channel.SMS, "de", body="Hallo")])
    versions.draft("mine", replace(german, settings={"default_locale": "de"}), by="ana")
    path = tmp_path / f"texts.{ending}"
    told = run("export", str(path), "--to", "de")
    assert told == "abc: 2 texts from en\nxyz: 2 texts from en\n"
    with pytest.raises(CommandError, match="the file has no translation"):
        run("import", str(path))
    data = path.read_text(encoding="utf-8-sig")
    path.write_text(_filled(data, ending), encoding="utf-8")
    assert run("import", str(path)) == "abc v2 de: new draft\nxyz v2 de: new draft\n"
    assert run("import", str(path)) == "abc v2 de: unchanged\nxyz v2 de: unchanged\n"
    made = versions.newest("xyz")
    assert made is not None
    assert made.created_by.startswith("translate_templates (")
    assert texts(made)["push de"].title == "Hallo"


def _filled(data: str, ending: str) -> str:
    """Return the file with German targets."""
    if ending == "csv":
        head, *rows = csv.reader(io.StringIO(data))
        filled = [
            [*row[:-2], "Hallo" if row[6] == "Hi" else "{{ name }}, es ist fällig", row[-1]]
            for row in rows
        ]
        return "".join(map(csv_lines.line, [head, *filled]))
    data = data.replace("<source>Hi</source>", "<source>Hi</source><target>Hallo</target>")
    body = '<target><ph id="1"/>, es ist fällig</target>'
    return data.replace("</ph></source>", f"</ph></source>{body}")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["export", "texts.pdf", "--to", "de"], "ends with .xlf, .xliff or .csv"),
        (["export", "texts.xlf", "--to", "klingon"], "'klingon' is no known locale"),
        (["export", "texts.xlf", "--to", "de", "--template", "no"], "there is no template 'no'"),
        (["export", "texts.xlf", "--to", "fr", "--template", "order"], ""),
        (["export", "texts.xlf", "--to", "de", "--from", "it"], "no template has words"),
        (
            ["export", "texts.xlf", "--to", "de", "--from", "it", "--template", "order"],
            "order v1 has no words in it",
        ),
        (["export", "no/texts.xlf", "--to", "de"], "cannot be opened"),
        (["import", "texts.csv"], "cannot be opened"),
    ],
)
def test_the_command_tells_what_is_wrong(
    line: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make()
    if not told:
        assert run(*line) == "order: 2 texts from en\n"
        return
    with pytest.raises(CommandError, match=told):
        run(*line)
    assert not list(tmp_path.iterdir())
