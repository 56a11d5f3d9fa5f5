"""Template files in a folder: `<folder>/<template_id>/<channel>.<locale>.txt` and so on.

`rules.templates.file_format` describes the content of the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from notifications.core.rules.templates.file_format import BrokenFiles


def read(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the id and the files by name of every template in a folder; hidden files are skipped.

    Raises:
        BrokenFiles: a file is not UTF-8.
        OSError: the folder cannot be read.
    """
    for place in sorted(folder.iterdir()):
        if place.is_dir() and not place.name.startswith("."):
            paths = [path for path in sorted(place.iterdir()) if not path.name.startswith(".")]
            yield place.name, {path.name: _text(path) for path in paths}


def write(folder: Path, template_id: str, files: Mapping[str, str]) -> int:
    """Replace the files of a template's folder; return the number of changed files.

    Raises:
        OSError: the folder cannot be written.
    """
    place = folder / template_id
    place.mkdir(parents=True, exist_ok=True)
    there = {path.name: path for path in place.iterdir() if not path.name.startswith(".")}
    changed = 0
    for name in there.keys() - files.keys():
        there[name].unlink()
        changed += 1
    for name, text in files.items():
        if name not in there or there[name].read_bytes() != text.encode():
            (place / name).write_bytes(text.encode())
            changed += 1
    return changed


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise BrokenFiles(f"{path.parent.name}/{path.name}: the file is not UTF-8") from error
