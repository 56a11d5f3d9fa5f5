"""The provider's end of a benchmark: nginx, which answers every POST from memory.

With a certificate it speaks TLS, and HTTP/2 to whoever asks for it.

It does what any provider must (parse a request, answer with an id of its own) and nothing else, so
what a benchmark measures is the product. Its share of the CPU is reported beside each number. Where
SES is asked, it answers as SES does.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Final

from notifyproj.devstack.child_process import Child
from notifyproj.devstack.ports import LOOPBACK, free_port
from notifyproj.devstack.supervisor.process import ROOT

_START_SECONDS: Final = 10.0
_DISCARD_PORT: Final = 9
"""Named where no slow server stands behind; nobody is sent there."""
_BULK_ENTRIES: Final = ",".join(['{"Status":"SUCCESS","MessageId":"$request_id"}'] * 50)
"""SES's answer to a full bulk call."""
_CONFIGURATION: Final = """
daemon off;
worker_processes 1;
pid nginx.pid;
worker_rlimit_nofile 20000;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    keepalive_requests 10000000;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    upstream slow {{ server {address}:{slow}; keepalive 4096; keepalive_requests 10000000; }}
    server {{
        listen {address}:{port}{tls};
        default_type application/json;
        location / {{ {answer} }}
        location = /token {{ return 200 '{{"access_token":"bench","expires_in":3600}}'; }}
        location = /v2/email/outbound-emails {{ return 200 '{{"MessageId":"$request_id"}}'; }}
        location = /v2/email/outbound-bulk-emails {{
            return 200 '{{"BulkEmailEntryResults":[{entries}]}}';
        }}
    }}
}}
"""


_AT_ONCE: Final = """return 200 '{"message_id":"$request_id","name":"$request_id"}';"""
_SLOWLY: Final = 'proxy_pass http://slow; proxy_http_version 1.1; proxy_set_header Connection "";'
_TLS: Final = " ssl http2; ssl_certificate {path}; ssl_certificate_key {path}"


class NoSink(Exception):
    """nginx is not installed, or does not start; the message names the cure."""


class PythonSink(Child):
    """A sink of `tests.benchmarks` in a process of its own: `python -m MODULE PORT ARGUMENTS`."""

    def __init__(
        self, name: str, *, log: Path, module: str, port: int, arguments: str = ""
    ) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        super().__init__(name, log=log)
        self.port = port
        self._command = [sys.executable, "-m", module, str(port), *arguments.split()]

    def start(self) -> None:
        """Start the process and wait for its port.

        Raises:
            NoSink: the process did not start.
        """
        self.log.unlink(missing_ok=True)
        self.spawn(self._command, folder=ROOT, environ={"PATH": "/usr/bin:/bin"})
        deadline = time.monotonic() + _START_SECONDS
        while not _listens(self.port):
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise NoSink(f"the {self.name} did not start: {self.last_log_line()}")


class Sink(Child):
    """nginx on a port of its own."""

    stop_signal = signal.SIGTERM

    def __init__(self, folder: Path, *, certificate: Path | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__("sink", log=folder / "sink.log")
        self._folder = folder
        self._certificate = certificate
        self.port = free_port(str(folder))

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"{'https' if self._certificate else 'http'}://{LOOPBACK}:{self.port}"

    def start(self) -> None:
        """Start it and wait until it listens.

        Raises:
            NoSink: it is missing, or did not start.
        """
        program = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
        if program is None:
            raise NoSink("The benchmarks need nginx: apt-get install nginx-light.")
        configuration = self._configure(slow_port=None)
        self.log.unlink(missing_ok=True)
        command = [program, "-e", "stderr", "-p", str(self._folder), "-c", str(configuration)]
        self.spawn(command, folder=self._folder, environ={"PATH": "/usr/bin:/bin"})
        deadline = time.monotonic() + _START_SECONDS
        while not _listens(self.port):
            if self.wait_for_end(0.05) or time.monotonic() > deadline:
                raise NoSink(f"nginx did not start: {self.last_log_line()}")

    def answer_through(self, slow_port: int | None) -> None:
        """Have the server on this port answer what is no special address; None: answer at once."""
        self._configure(slow_port=slow_port)
        if self.pid is not None:
            os.kill(self.pid, signal.SIGHUP)

    def _configure(self, *, slow_port: int | None) -> Path:
        configuration = self._folder / "nginx.conf"
        tls = _TLS.format(path=self._certificate) if self._certificate else ""
        text = _CONFIGURATION.format(
            address=LOOPBACK,
            port=self.port,
            tls=tls,
            entries=_BULK_ENTRIES,
            slow=slow_port or _DISCARD_PORT,
            answer=_AT_ONCE if slow_port is None else _SLOWLY,
        )
        configuration.write_text(text)
        return configuration


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0
