"""Templates go out to files and come in again; the same files twice are one version."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from notifications.core.management.commands import import_templates
from notifications.core.models import Template
from notifications.core.store.templates import versions

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    output = io.StringIO()
    call_command(*arguments, stdout=output)
    return output.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "hello"
    place.mkdir()
    (place / "push.en.txt").write_text("Hi\n\nHello {{ name }}\n")
    (place / "template.json").write_text('{"sensitive_variables": ["name"]}')
    return tmp_path


def bring(folder: Path, *options: str) -> str:
    return run("import_templates", "--dir", str(folder), *options)


def stored() -> list[tuple[int, bool]]:
    return [
        (each.version, bool(each.published_at)) for each in Template.objects.order_by("version")
    ]


def test_the_same_files_make_one_version(folder: Path) -> None:
    assert bring(folder, "--publish") == "hello: new version published\n"
    assert bring(folder, "--publish") == "hello: unchanged\n"
    assert bring(folder) == "hello: unchanged\n"
    assert stored() == [(1, True)]
    assert Template.objects.get().sensitive_variables == ["name"]
    assert Template.objects.get().published_by == "files"


def test_without_publish_a_change_is_a_draft_that_can_be_published(folder: Path) -> None:
    bring(folder, "--publish")
    (folder / "hello" / "push.en.txt").write_text("Hi\n\nGood morning\n")
    assert bring(folder) == "hello: new draft\n"
    assert bring(folder) == "hello: unchanged\n"
    assert stored() == [(1, True), (2, False)]
    assert bring(folder, "--publish") == "hello: draft published\n"
    assert stored() == [(1, True), (2, True)]


def test_check_changes_nothing_and_fails_on_a_difference(folder: Path) -> None:
    with pytest.raises(CommandError, match="differ"):
        bring(folder, "--check", "--publish")
    assert stored() == []
    bring(folder, "--publish")
    assert bring(folder, "--check", "--publish") == "hello: unchanged\n"


def test_what_was_exported_is_unchanged_when_it_is_imported(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run("import_templates", "--publish")
    out = tmp_path_factory.mktemp("out")
    run("export_templates", "--dir", str(out))
    assert "published" not in bring(out, "--publish", "--check")
    shipped = import_templates.folder()
    assert {path.name: path.read_text() for path in sorted(out.rglob("*.*"))} == {
        path.name: path.read_text() for path in sorted(shipped.rglob("*.*"))
    }
    bring(folder, "--publish")
    (out / "hello").mkdir()
    (out / "hello" / "sms.de.txt").write_text("is not in the version")
    assert "hello: 3 files changed" in run("export_templates", "--dir", str(out))
    assert "hello: 0 files" in run("export_templates", "--dir", str(out))
    assert not (out / "hello" / "sms.de.txt").exists()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("sms.en.txt", b"\xff", "hello/sms.en.txt: the file is not UTF-8"),
        ("sms.en.txt", b"{{ x() }}", "hello/sms.en.txt: line 1"),
        ("template.json", b'{"owner": "me"}', "hello/template.json: no owner"),
        ("template.json", b'{"sensitive_variables": 5}', "hello/template.json: sensitive_var"),
        ("template.json", b'{"variables": [{"name": "a", "type": "text"}]}', "one of string"),
        (
            "template.json",
            b'{"default_locale": "klingon"}',
            "unknown locale; use a CLDR locale such as pt-BR",
        ),
        (
            "template.json",
            b'{"variables": [{"name": "a", "type": "string", "example": "x"}]}',
            "hello v1: push en: it needs name",
        ),
    ],
)
def test_one_broken_file_keeps_everything_out(
    folder: Path, name: str, data: bytes, told: str
) -> None:
    (folder / "abc").mkdir()
    (folder / "abc" / "sms.en.txt").write_text("fine")
    (folder / "hello" / name).write_bytes(data)
    with pytest.raises(CommandError, match=told):
        bring(folder, "--publish")
    assert stored() == []


def test_two_spellings_of_one_locale_are_told(folder: Path) -> None:
    (folder / "hello" / "push.pt_BR.txt").write_text("Oi\n\nOlá\n")
    (folder / "hello" / "push.pt-br.txt").write_text("Oi\n\nBom dia\n")
    told = "hello/push.pt-br.txt and push.pt_BR.txt: two files of one locale"
    with pytest.raises(CommandError, match=told):
        bring(folder)


def test_a_folder_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        bring(Path("/nowhere"))


def test_an_empty_template_is_not_published(folder: Path) -> None:
    (folder / "hello" / "push.en.txt").unlink()
    with pytest.raises(CommandError, match="without a text"):
        bring(folder, "--publish")
    assert versions.newest("hello") is None
