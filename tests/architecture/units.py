"""The units of docs/systemd as systemd reads them, and the settings that the script installs."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.clock import ROOT

FOLDER: Final = ROOT / "docs" / "systemd"
UNITS: Final = FOLDER / "units"
PAGE: Final = ROOT / "docs" / "deploy-systemd.md"
EVERY_UNIT: Final = "notify-.service.d"
"""The folder of what each unit has."""
Sections = dict[str, dict[str, list[str]]]


def names() -> set[str]:
    """Return the names of the services, a template with its instances that have queues."""
    found = {each.stem for each in UNITS.glob("*.service")}
    workers = {f"notify-worker@{each.stem}" for each in (FOLDER / "workers").glob("*.env")}
    return (found - {"notify-worker@"}) | workers


def parsed(path: Path) -> Sections:
    """Return section -> key -> values in their order; no line of ours goes on in the next one."""
    found: Sections = {}
    section: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
        elif line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            section.setdefault(key, []).append(value)
    return found


def service(name: str) -> dict[str, list[str]]:
    """Return the section of a service, with its drop-in files after it."""
    template, at, _ = name.partition("@")
    files = [UNITS / f"{template}{at}.service"]
    for folder in (EVERY_UNIT, f"{name}.service.d"):
        files += sorted((UNITS / folder).glob("*.conf"))
    merged: dict[str, list[str]] = {}
    for file in files:
        for key, values in parsed(file).get("Service", {}).items():
            merged.setdefault(key, []).extend(values)
    return merged


def one(name: str, key: str) -> str:
    """Return the value of a key that a service has once."""
    [value] = service(name)[key]
    return value


def command(name: str) -> list[str]:
    """Return the words of ExecStart, with the variables of the environment files."""
    text = one(name, "ExecStart").replace("%i", name.partition("@")[2])
    return shlex.split(re.sub(r"\$\{(\w+)\}", lambda found: environ(name)[found[1]], text))


def environ(name: str) -> dict[str, str]:
    """Return the environment of a service: its own variables, then those of the files."""
    found: dict[str, str] = {}
    for line in service(name).get("Environment", []):
        found |= dict(each.split("=", 1) for each in shlex.split(line))
    instance = name.partition("@")[2]
    for path in service(name).get("EnvironmentFile", []):
        found |= _assignments(_file(path.replace("%i", instance)))
    return found


def _file(path: str) -> str:
    """Return an environment file of an installed host."""
    place = Path(path)
    if place.is_relative_to("/opt/notify"):
        return (ROOT / place.relative_to("/opt/notify")).read_text()
    if place.parent.name == "workers":
        return (FOLDER / "workers" / place.name).read_text()
    return installed()[place.name]


def _assignments(text: str) -> dict[str, str]:
    return dict(re.findall(r"^([A-Z][A-Z0-9_]*)='(.*)'$", text, re.MULTILINE))


def installed() -> Mapping[str, str]:
    """Return the files of /etc/notify that the install script writes, a secret as `$NAME`."""
    script = (FOLDER / "install").read_text()
    found = dict(
        re.findall(r"cat >/etc/notify/([\w.]+) <<END\n(.*?)^END$", script, re.MULTILINE | re.DOTALL)
    )
    empty = re.compile(r"^([A-Z_]+)=''$", re.MULTILINE)
    example = empty.sub(r"\1='$\1'", (ROOT / ".env.example").read_text())
    found["notify.env"] = subprocess.run(
        ["/usr/bin/awk", "-f", FOLDER / "settings.awk"],
        input=example,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return found


def commands(heading: str) -> list[str]:
    """Return the commands of a section of the page, those of several lines as one."""
    _, _, text = PAGE.read_text().partition(f"\n## {heading}\n")
    lines = re.findall(r"^ {4}(.*)$", text.partition("\n## ")[0], re.MULTILINE)
    found: list[str] = []
    for line in lines:
        if line.startswith(" "):  # goes on
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def enabled() -> set[str]:
    """Return the units that the page enables."""
    [line] = [each for each in commands("Installation") if "enable" in each]
    words = subprocess.run(
        ["/bin/bash", "-c", f"printf '%s\\n' {line.partition('--now ')[2]}"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(words.split())
