"""Each install line leads to this repository or to a locked package, so to no stranger's package.

A name that a document tells people to install, and that nobody here owns, can be another project's
or can be claimed by anybody.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from django.test import Client
from django.urls import reverse

from tests.architecture.install_lines import Command, commands, files
from tests.architecture.repository import ROOT

_DEBIAN: Final = {
    "chromium": "tests of pages in a browser",
    "chromium-driver": "the same",
    "curl": "tests of the documents' examples",
    "debootstrap": "the host that docs/deploy-systemd.md is tried on",
    "exim4-daemon-light": "tests against a mail server that people run",
    "gcc": "the library that gives tests another clock",
    "libc6-dev": "the same",
    "gettext-base": "envsubst, which writes the configuration of the proxy of docs/systemd",
    "git": "the checkout of a host without containers",
    "nginx": "the proxy of a host without containers",
    "nginx-light": "the receiver of the benchmarks",
    "golang-go": "tests of the Go client",
    "haproxy": "tests of three RabbitMQ nodes",
    "nodejs": "tests of the TypeScript client and of the inbox",
    "npm": "the same",
    "openjdk-17-jdk-headless": "tests of the Java client",
    "pebble": "an authority for the tests of certificates",
    "pgbouncer": "tests behind a pooler",
    "postgresql": "the database of a host without containers",
    "prometheus": "promtool, which checks the alert rules",
    "rabbitmq-server": "tests of RabbitMQ as the broker",
    "python3-venv": "the virtual environments of CI and of a host without containers",
    "redis-server": "the state Redis and the broker of a host without containers",
    "systemd": "systemd-analyze, which checks the units of docs/systemd",
    "wrk": "the client of the benchmark of single requests",
}
"""Packages of Debian, each with its reason. Debian's maintainers decide who holds a name."""
_VERIFIED: Final = {"mermaid": ".ci/docs compares the SHA-256 of the file"}
"""Packages that no lock names, each with its check."""
_OTHERS: Final = frozenset({"git clone URL notifications", "git clone URL /opt/notify"})
_PUBLISHERS: Final = {
    "caddy": "an official image of Docker",
    "postgres": "an official image of Docker",
    "python": "an official image of Docker",
    "valkey/valkey": "of the Valkey project",
    "nginxinc/nginx-unprivileged": "of NGINX",
    "notify": "built here; only Docker can publish a name without a publisher",
    "registry.example.com/notify": "a placeholder of a reserved domain",
}
"""Images without their tag, each with its publisher."""
_LOADED: Final = re.compile(
    r"""<script[^>]+src=["']?(https?:)?//([^/"'\s]+)|<link[^>]+stylesheet[^>]+href=["']?(https?:)?//([^/"'\s]+)"""
    r"""|\b(?:from|import)\s*\(?\s*["'](https?:)?//([^/"'\s]+)"""
)
_RESERVED: Final = re.compile(r"(?:^|\.)example\.(?:com|net|org)$|^\{\{|^\$\{")
_IMPORT: Final = re.compile(r"""\bfrom ["']([^"'./:]+)["']""")
_IMPORTED: Final = {"react-native": "of the app itself", "vue": "of Vue.js"}
"""Packages that a reader of the documents has, each with its publisher."""


def _json(path: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((ROOT / path).read_text())
    return loaded


_CLIENT: Final = _json("clients/typescript/package.json")


def _locked_python() -> set[str]:
    lines = "\n".join((ROOT / name).read_text() for name in _locks("-lock.txt"))
    return set(re.findall(r"^([a-z0-9-]+)==", lines, re.MULTILINE))


def _locks(ending: str) -> list[str]:
    folders = [ROOT, *(ROOT / ".ci").glob("*/"), *(ROOT / "clients").glob("*/")]
    found = (file for folder in folders for file in folder.glob(f"*{ending}"))
    return [file.relative_to(ROOT).as_posix() for file in found]


def _locked_npm() -> set[str]:
    paths = [path for name in _locks("package-lock.json") for path in _json(name)["packages"]]
    return {path.rpartition("node_modules/")[2] for path in paths if path}


_PYTHON: Final = _locked_python()
_NPM: Final = _locked_npm()


def _is_ours(package: str) -> bool:
    """Return whether a word is a path of this repository, or the file that `npm pack` makes."""
    if package == f"./{_CLIENT['name']}-{_CLIENT['version']}.tgz":
        return True
    return package.startswith(".") and (ROOT / package).exists()


@functools.cache
def _files() -> list[tuple[str, str]]:
    return list(files())


def _commands() -> list[Command]:
    return [command for name, text in _files() for command in commands(name, text)]


def _is_known(command: Command, package: str) -> bool:
    name = re.split(r"(?<=.)[@\[=<>~!]", package)[0]
    match command.kind:
        case "pip" | "python":
            return _is_ours(package) or re.sub(r"[-_.]+", "-", name).lower() in _PYTHON
        case "npm":
            return _is_ours(package) or name in _NPM or name in _VERIFIED
        case "apt":
            return package in _DEBIAN
        case "image":
            return name.partition(":")[0] in _PUBLISHERS
        case "helm":  # a release and its chart
            return package == "notify" or _is_ours(package)
        case _:
            return command.text in _OTHERS


def _strangers(command: Command) -> list[str]:
    """Return the packages of a command that nothing here names."""
    if command.kind == "npm ci" or "--require-hashes" in command.options:
        return []  # both take what a lock names, and nothing else
    return [f"{command.place}: {each}" for each in command.packages if not _is_known(command, each)]


def test_each_install_line_leads_to_this_repository_or_to_a_lock() -> None:
    assert [each for command in _commands() for each in _strangers(command)] == []


def test_the_served_page_of_the_api_names_no_stranger() -> None:
    page = Client().get(reverse("docs")).content.decode()
    found = list(commands("docs.html", page))
    assert {command.kind for command in found} == {"pip", "npm", "npm ci"}
    assert [each for command in found for each in _strangers(command)] == []


def test_documents_import_known_packages() -> None:
    imported = {
        name
        for path, text in _files()
        if path.endswith((".md", ".html"))
        for name in _IMPORT.findall(text)
    }
    assert imported == {_CLIENT["name"], *_IMPORTED}


def test_pages_and_documents_load_no_code_from_another_host() -> None:
    hosts = {
        (path, host)
        for path, text in _files()
        if path.endswith((".md", ".html", ".js", ".mjs", ".ts"))
        for found in _LOADED.finditer(text)
        for host in found.groups()[1::2]
        if host and not _RESERVED.search(host)
    }
    assert hosts == set()


def test_nobody_publishes_a_package_of_this_repository_by_mistake() -> None:
    packages = [path for path, _ in _files() if Path(path).name == "package.json"]
    assert len(packages) >= len(_locks("package-lock.json"))
    assert [path for path in packages if _json(path).get("private") is not True] == []
    client = tomllib.loads((ROOT / "clients/python/pyproject.toml").read_text())["project"]
    assert "Private :: Do Not Upload" in client["classifiers"]
    assert client["name"] == _CLIENT["name"]


def test_each_image_has_a_known_publisher() -> None:
    texts = [
        text
        for path, text in _files()
        if path.endswith((".yml", ".yaml", "Dockerfile", ".example"))
    ]
    named = [name for text in texts for name in _images(text)]
    assert len(named) > len(_PUBLISHERS)
    assert {re.sub(r":[^/:]+$", "", name) for name in named} == set(_PUBLISHERS)


def _images(text: str) -> list[str]:
    found = re.findall(
        r"^\s*(?:- )?image: *(\S+)|\bnewName: *([^,}\s]+)|^(?:ARG \w*IMAGE=|FROM +)(\S+)",
        text,
        re.MULTILINE,
    )
    names = ("".join(each).strip("\"'") for each in found)
    plain = (re.sub(r"^\$\{\w+:-(.*)\}$", r"\1", name) for name in names)
    return [name for name in plain if not name.startswith(("$", "{{"))]


def test_hooks_and_workflows_run_no_code_of_another_repository() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {each["repo"] for each in hooks["repos"]} == {"local"}
    uses = [
        path for path, text in _files() if re.search(r"^\s*-? *uses: \S+/\S+@", text, re.MULTILINE)
    ]
    assert uses == []


@pytest.mark.parametrize(
    "line",
    [
        "pip install notify-client",
        "<p>Python: <code>pip install notify-client</code></p>",
        'python -m pip install "notify_client[async]>=1"',
        "pip install ./clients/none",
        "pip3 install \\\n    stranger",
        "pipx run stranger",
        "uv add stranger",
        "uvx stranger",
        "npm install notifications-client",
        "npm i -D @stranger/client@1.0.0",
        "npx stranger --fix",
        "yarn add stranger",
        "pnpm dlx stranger",
        "apt-get install --yes stranger",
        "docker run --rm stranger/notify:1",
        "go install example.com/stranger@latest",
        "gem install stranger",
        "brew install stranger",
        "helm repo add stranger https://charts.example.com",
    ],
)
def test_a_strangers_package_is_found(line: str) -> None:
    assert [each for command in commands("page.html", line) for each in _strangers(command)]


@pytest.mark.parametrize(
    "line",
    [
        "`pip install ./clients/python` in a checkout",
        "pip install Django==5.2",
        f"npm install ./{_CLIENT['name']}-{_CLIENT['version']}.tgz",
        "npm ci --prefix clients/typescript && npm pack ./clients/typescript",
        "install it with pip, or with npm.",
        "apt-get install nginx-light.",
    ],
)
def test_a_known_package_is_let_through(line: str) -> None:
    assert not [each for command in commands("page.md", line) for each in _strangers(command)]
