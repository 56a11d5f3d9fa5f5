"""The TypeScript client, compiled as it is published, against the real service.

The client's own tests are `clients/typescript/test/*.test.mjs`, for Node's runner: they get the
service's address and keys in NOTIFY_TEST_SETTING. Where no registry gives the compiler, Node 22.18
and later run the sources themselves, which have no syntax but types; an older Node skips.
"""

from __future__ import annotations

import base64
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Final
from uuid import uuid4

import pytest

from notifications.core.management.commands.load_demo import KEYS_FILE
from notifications.core.management.demo_data import TUTORIAL
from notifyproj.devstack.demo.environment import Service, until
from notifyproj.devstack.ports import LOOPBACK
from tests import clock
from tests.clients.typescript import ROOT, checked
from tests.scenarios.world import WORKERS, World

_RUNS_TYPES: Final = (22, 18)
"""From this version on, Node runs TypeScript that is JavaScript with types."""
_OTHER_SECRET: Final = "whsec_dGVzdHMtc2lnbi10aGVpci1yZWNlaXB0cy13aXRoLXRoaXM="
_WEBHOOKS: Final = {
    "NOTIFY_ROUTES": "push=sandbox,sms=sandbox,email=sandbox,in_app=inbox,webhook=webhook,"
    "chat=sandbox",
    "NOTIFY_WEBHOOK_ALLOW_PRIVATE": "yes",
    "NOTIFY_WEBHOOK_SECRETS": _OTHER_SECRET,
}


@pytest.fixture(scope="module")
def module(node: str, request: pytest.FixtureRequest) -> Path:
    """The client's module: what the compiler makes, else its sources."""
    try:
        npm = request.getfixturevalue("npm")
    except pytest.skip.Exception:
        version = tuple(map(int, re.findall(r"\d+", checked(node, "--version"))))
        if version < _RUNS_TYPES:
            raise
        return ROOT / "src" / "index.ts"
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    checked(npm, "run", "build")
    return ROOT / "dist" / "index.js"


class _Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps the webhooks that it gets."""

    got: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name: value for name, value in self.headers.items() if "webhook" in name.lower()}
        self.got.append({"body": base64.b64encode(body).decode(), "headers": headers})
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


@pytest.fixture(scope="module")
def receiver() -> Iterator[str]:
    with http.server.ThreadingHTTPServer((LOOPBACK, 0), _Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{LOOPBACK}:{server.server_port}/hook"
        server.shutdown()


@pytest.fixture(scope="module")
def world(module: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:  # noqa: ARG001 - nothing starts for a client that cannot run
    """The whole product, running, whose workers may send webhooks to this machine."""
    with clock.stack("clients", environ={}) as stack:
        world = World(stack, var=tmp_path_factory.mktemp("typescript"))
        try:
            world.set_up(*WORKERS, **_WEBHOOKS)
            yield world
        finally:
            world.stop()


@pytest.fixture(scope="module")
def setting(world: World, module: Path, receiver: str) -> dict[str, Any]:
    """What the tests in Node know of the service, a webhook of it included."""
    run = uuid4().hex[:8]
    made = subprocess.run(
        [sys.executable, "-m", "tests.clients.furnish", f"typescript-{run}", receiver],
        cwd=clock.ROOT,
        env=world.environ,
        capture_output=True,
        check=True,
    )
    found = json.loads(made.stdout)
    sent = {"user_id": found["user_id"], "type": "X", "priority": "P1", "channels": ["webhook"]}
    service = Service(world.url, {"Authorization": f"Bearer {found['key']}"})
    service.notify({**sent, "content": {"body": "Hello ✓"}})
    [webhook] = until(lambda: _Receiver.got, what="the webhook has come")
    secrets = {"secrets": found["secrets"], "other": _OTHER_SECRET}
    return {
        **found,
        "run": run,
        "url": world.url,
        "client": module.as_uri(),
        "webhook": {**webhook, **secrets},
    }


def _tests(node: str, name: str, setting: dict[str, Any]) -> None:
    """Run one of the files for Node's test runner."""
    file = str(ROOT / "test" / f"{name}.test.mjs")
    said = checked(node, "--test", file, NOTIFY_TEST_SETTING=json.dumps(setting))
    assert re.search(r"^# pass [1-9]", said, re.MULTILINE) or re.search(r"pass [1-9]", said), said


def test_every_operation_and_error_of_the_service(node: str, setting: dict[str, Any]) -> None:
    _tests(node, "service", setting)


def test_webhooks_of_the_service_are_verified(node: str, setting: dict[str, Any]) -> None:
    _tests(node, "webhooks", setting)


def test_the_service_accepts_tokens_of_a_token_secret(node: str, setting: dict[str, Any]) -> None:
    _tests(node, "tokens", setting)


def test_an_inbox_works_in_react_native(node: str, npm: str, setting: dict[str, Any]) -> None:
    del npm  # the package is built
    _tests(node, "react-native", setting)


def test_lost_answers_send_nothing_twice(node: str, setting: dict[str, Any], world: World) -> None:
    _tests(node, "retries", setting)
    found = world.rows(
        "SELECT id, user_id FROM notification WHERE user_id LIKE %s", f"once-{setting['run']}-%"
    )
    assert len({row["user_id"] for row in found}) == 4, "each kind of lost answer has its person"
    assert len(found) == 4, "nothing is stored twice"
    sent = [row["id"] for row in found]
    world.settled(sent)
    assert world.shown(sent) == [1, 1, 1, 1]


def test_types_and_their_uses_compile(npm: str) -> None:
    checked(npm, "run", "check")


_GIVEN: Final = """\
import type { NotificationRequest } from "notify-delivery-client";
declare const process: { env: Record<string, string | undefined> };
declare const message: NotificationRequest;
declare const order: { id: string };
declare const signal: AbortSignal;
declare const request: Request;
"""
"""The names that the examples take from the program of a reader."""


@pytest.mark.parametrize("page", ["clients/typescript/README.md", "docs/api-guide.md"])
def test_the_examples_of_a_page_compile(page: str, npm: str, tmp_path: Path) -> None:
    del npm  # it has installed the compiler
    examples = re.findall(
        r"^```ts\n(.*?)^```", (clock.ROOT / page).read_text(), re.MULTILINE | re.DOTALL
    )
    assert examples
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "examples.ts").write_text("\n".join([_GIVEN, *examples]))
    options = {
        "noEmit": True,
        "noUnusedLocals": False,  # an example shows what an import gives
        "rootDir": "/",
        "paths": {"notify-delivery-client": [str(ROOT / "src" / "index.ts")]},
    }
    settings = {"extends": str(ROOT / "tsconfig.json"), "compilerOptions": options}
    settings |= {"include": [], "files": ["examples.ts"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings))
    compiler = ROOT / "node_modules" / ".bin" / "tsc"
    checked(str(compiler), "--project", str(tmp_path / "tsconfig.json"))


@pytest.mark.parametrize("page", ["clients/typescript/README.md", "docs/api-guide.md"])
def test_the_first_program_of_a_page_sends_with_the_key_that_the_demo_prints(
    page: str, node: str, npm: str, module: Path, world: World, tmp_path: Path
) -> None:
    del npm, module  # they have installed the compiler and built the package
    text = (clock.ROOT / page).read_text()
    program = re.findall(r"^```ts\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[0]
    phone = {"channel": "sms", "address": "+34612345678"}
    world.service("operator").person("u_1001", contacts=[phone])
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "notify-delivery-client").symlink_to(ROOT)
    (tmp_path / "first.mjs").write_text(_without_types(node, program))
    counted = "SELECT count(*) AS total FROM notification"
    before = world.rows(counted)[0]["total"]
    key = json.loads((world.var / KEYS_FILE).read_text())[TUTORIAL]
    checked(node, str(tmp_path / "first.mjs"), NOTIFY_URL=world.url, NOTIFY_KEY=key)
    assert world.rows(counted)[0]["total"] == before + 1


def _without_types(node: str, program: str) -> str:
    """Return the JavaScript of a TypeScript program."""
    script = (
        "const ts = require('typescript'); const source = require('fs').readFileSync(0, 'utf8');"
        "const compilerOptions = { module: 'esnext', target: 'es2022' };"
        "process.stdout.write(ts.transpileModule(source, { compilerOptions }).outputText);"
    )
    return subprocess.run(
        [node, "-e", script], cwd=ROOT, input=program, capture_output=True, text=True, check=True
    ).stdout


def test_the_types_are_those_of_the_service(
    node: str, npm: str, world: World, tmp_path: Path
) -> None:
    """But for the descriptions: a better word in the document makes no client wrong."""
    del npm  # it has installed the generator
    document = tmp_path / "schema.json"
    document.write_text(json.dumps(Service(world.url).ask("GET", "/v1/schema").body))
    checked(node, "generate.mjs", str(document), str(tmp_path / "schema.ts"))
    fresh, committed = (
        _without_comments(path) for path in (tmp_path / "schema.ts", ROOT / "src" / "schema.ts")
    )
    assert fresh == committed, (
        "the API's shapes have changed: in clients/typescript run"
        " `npm ci && npm run generate -- schema.json` with the document of /v1/schema"
    )


def _without_comments(path: Path) -> list[str]:
    lines = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL).splitlines()
    return [line.strip() for line in lines if line.strip()]


def test_the_lock_names_no_registry() -> None:
    locked = json.loads((ROOT / "package-lock.json").read_text())["packages"]
    packages = [each for path, each in locked.items() if path]
    assert all(each.get("integrity") for each in packages)
    assert not [each for each in packages if "resolved" in each]
