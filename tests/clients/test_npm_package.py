"""The npm package is made from the files of git, installed into an empty project, and used."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Final

import pytest

from tests.architecture import repository
from tests.clients import released_files
from tests.clients.typescript import ROOT, checked

_USE: Final = """\
import { createHmac } from "node:crypto";
import { Notify, verifyWebhook, WebhookError } from "notify-delivery-client";

new Notify({ url: "http://127.0.0.1:9", key: "nk_test_x" });
const key = Buffer.from("the secret of a webhook.");
const body = '{"type": "test", "timestamp": "2026-11-28T00:00:00Z", "data": {}}';
const at = String(Math.floor(Date.now() / 1000));
const signature = createHmac("sha256", key).update(`m_1.${at}.${body}`).digest("base64");
const headers = {
  "webhook-id": "m_1", "webhook-timestamp": at, "webhook-signature": `v1,${signature}`,
};
const secret = `whsec_${key.toString("base64")}`;
const { payload } = await verifyWebhook(body, headers, secret);
try {
  await verifyWebhook(`${body} `, headers, secret);
} catch (error) {
  if (error instanceof WebhookError) console.log(payload.type, "is verified");
}
"""
"""Makes a client, and verifies a signed webhook and a changed one."""
_TYPED: Final = """\
import { Notify, verifyWebhook, type NotificationRequest } from "notify-delivery-client";
const message: NotificationRequest = { user_id: "u_1", type: "ORDER_READY" };
const client = new Notify({ url: "http://127.0.0.1:9", key: "nk_test_x" });
export const sent = client.notifications.create(message);
export const type: Promise<string> = verifyWebhook("", {}, "").then((each) => each.payload.type);
// @ts-expect-error the package has types, so a wrong one is an error
export const wrong = new Notify({ url: 1, key: "nk_test_x" });
"""


@pytest.fixture(scope="module")
def package(npm: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by `npm pack` from a folder with the files of git and the locked compiler."""
    folder = tmp_path_factory.mktemp("released")
    released_files.copy("clients/typescript", folder)
    source = folder / "clients" / "typescript"
    (source / "node_modules").symlink_to(ROOT / "node_modules")
    checked(npm, "pack", "--pack-destination", str(folder), folder=source)
    (made,) = folder.glob("*.tgz")
    return made


@pytest.fixture(scope="module")
def project(npm: str, package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project in which the package is installed, without a registry."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"type": "module", "private": true}')
    checked(npm, "install", "--offline", "--no-audit", "--no-fund", str(package), folder=folder)
    return folder


def _members(package: Path) -> dict[str, bytes]:
    with tarfile.open(package) as archive:
        files = {each.name: archive.extractfile(each) for each in archive.getmembers()}
        return {
            name.removeprefix("package/"): file.read()
            for name, file in files.items()
            if file is not None
        }


def test_the_package_has_program_types_sources_licence_and_nothing_else(package: Path) -> None:
    sources = {Path(path).name for path in repository.files(f"{ROOT}/src")}
    copied = {"inbox-client.js", "inbox-client.d.ts"}  # written by `make embed`
    made = {Path(name).stem for name in sources - copied}
    members = _members(package)
    assert {name for name in members if name.startswith("src/")} == {f"src/{s}" for s in sources}
    assert {name for name in members if name.startswith("dist/")} == {
        *(f"dist/{name}" for name in copied),
        *(f"dist/{name}.{kind}" for name in made for kind in ("js", "js.map", "d.ts", "d.ts.map")),
    }
    rest = {name for name in members if not name.startswith(("src/", "dist/"))}
    assert rest == {"LICENSE", "README.md", "package.json"}
    assert [name for name in members if released_files.is_out_of_place(name)] == []


def test_the_metadata_have_version_licence_and_no_dependency(package: Path) -> None:
    members = _members(package)
    said = json.loads(members["package.json"])
    assert said == json.loads((ROOT / "package.json").read_text())
    assert package.name == f"notify-delivery-client-{said['version']}.tgz"
    assert said["license"] == "Apache-2.0"
    assert "dependencies" not in said
    assert members["LICENSE"] == (repository.ROOT / "LICENSE").read_bytes()
    assert members["README.md"] == (ROOT / "README.md").read_bytes()


def test_a_program_verifies_a_webhook_with_the_installed_package(node: str, project: Path) -> None:
    (project / "use.mjs").write_text(_USE)
    assert checked(node, "use.mjs", folder=project) == "test is verified\n"


def test_the_types_of_the_installed_package_compile(project: Path) -> None:
    (project / "use.ts").write_text(_TYPED)
    options = ("--noEmit", "--strict", "--module", "nodenext", "--target", "es2022")
    compiler = ROOT / "node_modules" / ".bin" / "tsc"
    checked(str(compiler), *options, "use.ts", folder=project)
