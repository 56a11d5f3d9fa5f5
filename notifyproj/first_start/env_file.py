"""`.env`, read and written in the form that Compose, systemd and `sh` read alike.

A value is in single quotes, which none of the three interprets. A value with an apostrophe is in
double quotes and has no character that a double-quoted value interprets.
Source: https://docs.docker.com/reference/compose-file/services/#env_file-format
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from cryptography.fernet import Fernet

from notifyproj.first_start.terminal import Refused

_ASSIGNMENT: Final = re.compile(
    r"^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*"
    r"(?:'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\"|(?P<plain>[^\r\n]*))",
    re.MULTILINE | re.DOTALL,
)
_TEMPLATE_LINE: Final = re.compile(r"([A-Z][A-Z0-9_]*)='(.*)'")
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}
_INTERPRETED: Final = frozenset('"$`\\')
"""Characters with a meaning between double quotes."""
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def read(path: Path) -> dict[str, str]:
    """Return the variables of a file; `$NAME` in a value stays as it is.

    Raises:
        Refused: the file cannot be read, or is not UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Refused(f"{path.name} cannot be read ({error.strerror}): {_who(path)}.") from None
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is not a text in UTF-8: move it away.") from None
    return {found["name"]: _value(found) for found in _ASSIGNMENT.finditer(text)}


def _value(found: re.Match[str]) -> str:
    if found["single"] is not None:
        return found["single"].replace("\\'", "'")
    if found["double"] is not None:
        return re.sub(
            r"\\(.)", lambda each: _ESCAPES.get(each[1], each[1]), found["double"], flags=re.DOTALL
        )
    return re.sub(r"(?:^|\s)#.*", "", found["plain"]).strip()


def line(name: str, value: str) -> str:
    """Return the line of a variable.

    Raises:
        Refused: no form of the line gives every reader the same value.
    """
    if not value.isprintable():
        raise Refused(f"{name} has a line break or another control character: remove it.")
    if "'" not in value and not value.endswith("\\"):
        return f"{name}='{value}'"
    if not _INTERPRETED & set(value):
        return f'{name}="{value}"'
    raise Refused(
        f'{name} has an apostrophe and one of " $ ` \\, or ends with \\: Compose and sh would read'
        " different values. In a URL write %27 for an apostrophe; elsewhere leave it out."
    )


def filled(template: str, answers: Mapping[str, str], *, without: Collection[str]) -> str:
    """Return the text of .env.example with answers, and a random value for each empty secret.

    The lines of the variables in `without` become examples behind a #.
    """
    lines = []
    for each in template.splitlines():
        found = _TEMPLATE_LINE.fullmatch(each)
        if found is None or (found[2] and found[1] not in {*answers, *without}):
            lines.append(each)
        elif found[1] in without:
            lines.append(f"#{each}")
        else:
            lines.append(line(found[1], answers.get(found[1]) or secret()))
    return "\n".join([*lines, ""])


def secret() -> str:
    """Return 32 random bytes as 44 characters of URLs, which is also a Fernet key."""
    return Fernet.generate_key().decode()


def template_values(template: str) -> dict[str, str]:
    """Return the variables of .env.example without those behind a #."""
    found = map(_TEMPLATE_LINE.fullmatch, template.splitlines())
    return {each[1]: each[2] for each in found if each is not None}


def write(path: Path, text: str) -> bool:
    """Write a new file that only its owner can read, whole or not at all; False if it exists.

    Of two runs at a time one writes, because a hard link replaces no file.

    Raises:
        Refused: the folder takes no file.
    """
    try:
        descriptor, part = tempfile.mkstemp(prefix=".env.part.", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.link(part, path)
        finally:
            os.unlink(part)  # noqa: PTH108 - beside os.link, on the same name
    except FileExistsError:
        return False
    except OSError as error:
        raise Refused(_takes_no_file(path.parent, error.strerror)) from None
    return True


def check_folder(folder: Path) -> None:
    """Check before the questions that the folder takes files.

    Raises:
        Refused: the folder is missing, read-only, or closed to this user.
    """
    if not folder.is_dir():
        raise Refused(f"The folder {folder} is missing: --folder names the folder for .env.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(_takes_no_file(folder, "not writable"))


def _takes_no_file(folder: Path, reason: str | None) -> str:
    return (
        f"The folder {folder} takes no file ({reason}): {_who(folder / '.env')}. In a container run"
        ' init with --user "$(id -u):$(id -g)", as docs/deploy.md shows.'
    )


def is_open_to_others(path: Path) -> bool:
    """Return True if users other than the owner have a right to the file."""
    return bool(path.stat().st_mode & _OTHERS)


def _who(path: Path) -> str:
    return f"init runs as user {os.geteuid()}, the folder belongs to user {_owner(path.parent)}"


def _owner(folder: Path) -> str:
    try:
        return str(folder.stat().st_uid)
    except OSError:
        return "?"
