"""A mail server that people run: Debian's exim4, without privileges, from a folder of its own.

It offers STARTTLS and then a login, knows two mailboxes, greylists one of them and relays nothing;
what it accepts it delivers into a maildir.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
from collections.abc import Callable
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Final

from notifyproj.devstack.child_process import Account, Child
from tests.providers.fakes import free_port

PROGRAM: Final = shutil.which("exim4", path="/usr/sbin:/usr/local/sbin")
LOGIN: Final = ("shop", "secret")
SIZE_LIMIT_KIB: Final = 50
PATIENCE_SECONDS: Final = 30.0

_CONFIGURATION: Final = r"""
primary_hostname = mail.example
spool_directory = {folder}/spool
log_file_path = {folder}/%slog
pid_file_path = {folder}/pid
exim_user = {uid}
exim_group = {gid}
admin_groups = {gid}
never_users =
keep_environment =
deliver_drop_privilege = true
host_lookup =
smtp_accept_queue_per_connection = 0
tls_advertise_hosts = *
tls_certificate = {certificate}
message_size_limit = {size_limit}K
acl_smtp_rcpt = recipient
domainlist here = mailbox.example

begin acl
recipient:
  accept domains = +here
         local_parts = maria
  accept domains = +here
         local_parts = grey
         ratelimit = 1.5 / 1h / per_cmd / strict / $local_part
  defer  local_parts = grey
         message = 451 4.7.1 Greylisted, come back later
  deny   domains = +here
         message = 550 5.1.1 No such user here
  deny   message = 550 5.7.1 Relaying denied

begin routers
here:
  driver = accept
  domains = +here
  transport = mailbox

begin transports
mailbox:
  driver = appendfile
  maildir_format
  directory = {folder}/mail
  envelope_to_add

begin authenticators
plain:
  driver = plaintext
  server_prompts = :
  server_condition = ${{if and{{{{eq{{$auth2}}{{{user}}}}}{{eq{{$auth3}}{{{password}}}}}}}}}
  server_advertise_condition = ${{if def:tls_in_cipher}}
  server_set_id = $auth2
"""


class Exim(Child):
    """The server, from `start` to `close`."""

    def __init__(self, folder: Path, *, certificate: Path) -> None:
        super().__init__("exim", log=folder / "output")
        self._folder = folder
        self.port = free_port()
        # As root it would want to become the system's mail user: it is started as nobody instead.
        me = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        self._account = Account(uid=me.pw_uid, gid=me.pw_gid) if os.getuid() == 0 else None
        own = folder / "certificate.pem"
        shutil.copyfile(certificate, own)
        text = _CONFIGURATION.format(
            folder=folder,
            certificate=own,
            uid=me.pw_uid,
            gid=me.pw_gid,
            size_limit=SIZE_LIMIT_KIB,
            user=LOGIN[0],
            password=LOGIN[1],
        )
        (folder / "exim.conf").write_text(text)
        for path in (folder, *folder.iterdir()):
            os.chown(path, me.pw_uid, me.pw_gid)

    def start(self) -> None:
        """Start it and wait until it listens."""
        assert PROGRAM is not None
        command = [PROGRAM, "-C", str(self._folder / "exim.conf"), "-bdf"]
        command += ["-oX", f"127.0.0.1.{self.port}"]
        self.spawn(command, folder=self._folder, environ={}, account=self._account)
        self._until(self._listens)

    def close(self) -> None:
        self.stop()

    def mails(self, count: int) -> list[EmailMessage]:
        """Wait for so many mails, and read them back from the mailbox."""
        arrived = self._folder / "mail" / "new"
        self._until(lambda: arrived.exists() and len(list(arrived.iterdir())) >= count)
        return [message_from_bytes(file.read_bytes(), policy=default) for file in arrived.iterdir()]

    @property
    def journal(self) -> str:
        """What it wrote of each mail."""
        return (self._folder / "mainlog").read_text()

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def _until(self, holds: Callable[[], bool]) -> None:
        ends_at = monotonic() + PATIENCE_SECONDS
        pause = Event()
        while not holds():
            assert monotonic() < ends_at, f"exim did not do it in time: {self.last_log_line()}"
            pause.wait(0.02)
