"""docker-compose.yml as Compose reads it: anchors and merge keys by YAML, `${...}` from a .env."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from tests.clock import ROOT

_NAME: Final = re.compile(r"\$\$|\$\{([A-Z][A-Z0-9_]*)(?:(:-|:\?)((?:[^{}$]|\$\{[^{}]*\})*))?\}")
"""A variable, whose default may have variables."""
SERVERS: Final = frozenset({"postgres", "state", "broker", "roles"})
"""Services that Kubernetes has from elsewhere."""


def interpolated(value: Any, env_file: Mapping[str, str]) -> Any:  # noqa: ANN401 - any YAML
    """Return a value with its variables replaced; a required variable must be in `env_file`."""
    if isinstance(value, dict):
        return {name: interpolated(each, env_file) for name, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, env_file) for each in value]
    return _NAME.sub(lambda found: _value(found, env_file), value) if type(value) is str else value


def _value(found: re.Match[str], env_file: Mapping[str, str]) -> str:
    name, kind, rest = found.groups()
    if name is None:
        return "$"
    given = env_file.get(name, "")
    if kind == ":?" and not given:
        raise KeyError(f"{name}: {rest}")
    return given or (str(interpolated(rest, env_file)) if kind == ":-" else "")


def load(env_file: Mapping[str, str]) -> dict[str, Any]:
    """Return the whole file for a .env with these values."""
    loaded = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return dict(interpolated(loaded, env_file))


def example() -> dict[str, str]:
    """Return the variables of .env.example that are to be filled in, each with a value."""
    return {name: value or f"<{name}>" for name, value in given().items()}


def given() -> dict[str, str]:
    """Return the variables of .env.example that are to be filled in, as the file has them."""
    text = (ROOT / ".env.example").read_text()
    return dict(re.findall(r"^([A-Z][A-Z0-9_]+)='(.*)'$", text, re.MULTILINE))


def variables() -> set[str]:
    """Return the variables that the file reads from .env."""
    return set(re.findall(r"\$\{([A-Z_]+)", (ROOT / "docker-compose.yml").read_text()))


def services(profile: str = "full") -> dict[str, dict[str, Any]]:
    """Return the services of a profile of production for .env.example."""
    found = load(example())["services"]
    return {
        name: each for name, each in found.items() if profile in each.get("profiles", [profile])
    }


def memory_mounts(service: Mapping[str, Any]) -> set[str]:
    """Return the folders of a container that are memory, its own or shared."""
    volumes = load(example())["volumes"]
    mounts = [each.split(":")[:2] for each in service.get("volumes", [])]
    shared = {
        place
        for name, place in mounts
        if ((volumes.get(name) or {}).get("driver_opts") or {}).get("type") == "tmpfs"
    }
    return shared | {each.partition(":")[0] for each in service["tmpfs"]}


def environ(service: Mapping[str, Any], env_file: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a container; a variable that is set to nothing is left out."""
    own = {name: str(value) for name, value in service.get("environment", {}).items()}
    found = {**(env_file if service.get("env_file") else {}), **own}
    return {name: value for name, value in found.items() if value}


def seconds(text: str) -> int:
    """Return the seconds of a period such as `45s`."""
    return int(text.removesuffix("s"))
