"""`notify templates`: templates as files in git, carried between installations.

    <dir>/<template_id>/template.json, push.en.txt, email.en.html, ...

The files are those of `manage.py export_templates`. A push makes a draft, unless the newest version
has this content already, so each command is safe to repeat.
"""

from __future__ import annotations

import difflib
import re
import sys
from argparse import Namespace
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from notify_client import Client
from notify_client.cli import profiles
from notify_client.cli.faults import Fault
from notify_client.errors import ApiError, NotFound, ServiceError
from notify_client.types import FilesAnswer, FilesStored

Files = Mapping[str, str]

_FILE: Final = re.compile(
    r"template\.json|[a-z_]+\.[A-Za-z0-9_\-]{1,35}(@[a-z0-9_\-]{1,32})?\.(txt|html|md|json)"
)
"""Settings, or a text by channel and locale."""
_NAME: Final = re.compile(r"[A-Za-z0-9_\-][A-Za-z0-9_.@\-]{0,95}")


def names(chosen: Namespace) -> int:
    """List templates with the current and the newest version."""
    with profiles.client(chosen.profile) as client:
        for line in client.templates.list():
            draft = "" if line["newest_version"] == line["current_version"] else " draft"
            newest = f" v{line['newest_version']}{draft}" if draft else ""
            current = line["current_version"]
            print(f"{line['template_id']}: {f'v{current}' if current else 'unpublished'}{newest}")
    return 0


def pull(chosen: Namespace) -> int:
    """Write the files of templates, and delete files of texts that a template no longer has."""
    with profiles.client(chosen.profile) as client:
        for name in chosen.names or _all(client):
            found = client.templates.files(name)
            changed = _write(chosen.dir, name, found["files"])
            print(f"{name}: v{found['version']}, {changed} files changed")
    return 0


def push(chosen: Namespace) -> int:
    """Draft templates from files, and publish the drafts with `--publish`."""
    templates = dict(_local(chosen.dir, chosen.names))
    with profiles.client(chosen.profile) as client:
        found = ((name, files, chosen.note) for name, files in templates.items())
        _store(client, found, publish=chosen.publish)
    return 0


def diff(chosen: Namespace) -> int:
    """Print the differences of the files from the service; 1 if there are any."""
    templates = dict(_local(chosen.dir, chosen.names))
    with profiles.client(chosen.profile) as client:
        there = {name: _stored(client, name) for name in templates}
    lines = [
        line
        for name, files in templates.items()
        for line in _differences(name, there[name], files, into=str(chosen.dir))
    ]
    sys.stdout.writelines(lines)
    return 1 if lines else 0


def promote(chosen: Namespace) -> int:
    """Draft the published versions of one installation in another, for a review there.

    Raises:
        Fault: a named template is not published.
    """
    with profiles.client(chosen.source) as source:
        published = {name: source.templates.files(name) for name in chosen.names or _all(source)}
    drafts = sorted(name for name, each in published.items() if each["state"] == "draft")
    if drafts and chosen.names:
        raise Fault(
            f"not published in {chosen.source}: {', '.join(drafts)}. Publish it there first."
        )
    with profiles.client(chosen.target) as target:
        changes = _promoted(target, published, without=drafts, source=chosen.source)
        _store(target, changes, publish=chosen.publish)
    return 0


def _promoted(
    target: Client, published: Mapping[str, FilesAnswer], *, without: Collection[str], source: str
) -> Iterator[tuple[str, Files, str]]:
    """Yield the templates for another installation, and print the differences of each before."""
    for name in sorted(published.keys() - set(without)):
        found = published[name]
        there = _stored(target, name)
        sys.stdout.writelines(_differences(name, there, found["files"], into=source))
        yield name, found["files"], f"{source} v{found['version']}"


def _store(client: Client, templates: Iterable[tuple[str, Files, str]], *, publish: bool) -> None:
    """Draft templates (name, files, note), and with `publish` publish the drafts.

    Each template is drafted before the first is published, so a refused draft publishes none. The
    drafts before a refused draft stay, and are told. The service publishes one template at a time:
    after a refused publication the drafts that are left are told, and a repeat goes on with these.

    Raises:
        KeyboardInterrupt: the user ended the command; what is left is told as well.
    """
    drafted: list[FilesStored] = []
    try:
        for name, files, note in templates:
            stored = client.templates.put_files(name, files, note=note)
            if publish:
                drafted.append(stored)
            else:
                _tell(stored)
    except Exception:  # raised again: the drafts before are told first
        for stored in drafted:
            _tell(stored)
        raise
    while drafted:
        try:
            _publish(client, drafted[0])
        except (Exception, KeyboardInterrupt) as error:  # raised again: what is left is told first
            _tell_left(drafted, is_refused=_is_refused(error))
            raise
        del drafted[0]


def _is_refused(error: BaseException) -> bool:
    """Return True if the service has surely not published: a refusal, and no answer was lost."""
    if not isinstance(error, ApiError) or error.after_no_answer:
        return False
    return not isinstance(error, ServiceError)  # a proxy's 504 comes after a publication, too


def _tell_left(drafted: Sequence[FilesStored], *, is_refused: bool) -> None:
    """Print the drafts that are left, the first of which is refused, or perhaps published."""
    maybe = " not" if is_refused else " perhaps"
    for stored in drafted:
        print(f"{stored['template_id']}: v{stored['version']}{maybe} published")
        maybe = " not"
    print("Correct the cause and run the command again: it goes on with these.")


def _tell(stored: FilesStored) -> None:
    print(f"{stored['template_id']}: v{stored['version']} {stored['effect']}")
    if stored["review_url"]:
        print(f"  review and publish: {stored['review_url']}")


def _publish(client: Client, stored: FilesStored) -> None:
    name, number = stored["template_id"], stored["version"]
    is_draft = client.templates.version(name, number)["state"] == "draft"
    if is_draft:
        client.templates.publish(name, number)
    print(f"{name}: v{number} {'published' if is_draft else stored['effect']}")


def _all(client: Client) -> list[str]:
    return [line["template_id"] for line in client.templates.list()]


def _stored(client: Client, name: str) -> Files:
    try:
        return client.templates.files(name)["files"]
    except NotFound:
        return {}


def _differences(name: str, old: Files, new: Files, *, into: str) -> Iterator[str]:
    for file in sorted({*old, *new}):
        yield from difflib.unified_diff(
            old.get(file, "").splitlines(keepends=True),
            new.get(file, "").splitlines(keepends=True),
            f"service/{name}/{file}" if file in old else "/dev/null",
            f"{into}/{name}/{file}" if file in new else "/dev/null",
        )


def _local(folder: Path, wanted: list[str]) -> Iterator[tuple[str, Files]]:
    """Yield the templates of a folder, or those that are named.

    Raises:
        Fault: a template has no folder, or a file is not UTF-8.
    """
    if not wanted:
        wanted = [each.name for each in sorted(folder.iterdir()) if _is_visible(each)]
    for name in wanted:
        place = folder / name
        if not place.is_dir():
            raise Fault(f"{place} is no folder: a template is a folder of {folder}")
        yield (
            name,
            {path.name: _text(path) for path in sorted(place.iterdir()) if _is_visible(path)},
        )


def _write(folder: Path, name: str, files: Files) -> int:
    for each in (name, *files):
        if not _NAME.fullmatch(each):
            raise Fault(f"{each!r} cannot be the name of a file")
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    changed = [
        (place / file, text.encode())
        for file, text in files.items()
        if not (place / file).exists() or (place / file).read_bytes() != text.encode()
    ]
    for path, content in changed:
        new = path.with_name(f".{path.name}")
        new.write_bytes(content)
        new.replace(path)  # a pull that is killed leaves no half text for the next push
    gone = [path for path in place.iterdir() if path.name not in files and _is_of_template(path)]
    for path in gone:
        path.unlink()
    return len(gone) + len(changed)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise Fault(f"{path} is not UTF-8") from error


def _is_of_template(path: Path) -> bool:
    """Return True for a file that the service can have written."""
    return _FILE.fullmatch(path.name) is not None and path.is_file()


def _is_visible(path: Path) -> bool:
    return not path.name.startswith(".")
