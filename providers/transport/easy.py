"""One request on one libcurl handle: options, and the meaning of libcurl's errors.

A handle is made once and used for many requests: `__init__` sets the constant options, `begin` sets
the rest. Options that most requests of a handle share are set if they change.

libcurl repeats a request by itself when a reused connection dies before the first byte of an
answer. If the provider crashed after acceptance, the repeat is a second message to the person,
without a trace. The pre-request callback runs before each write of a request: the callback lets the
first write pass and aborts the second. The callback also tells, without guessing, if bytes were
sent.

An HTTP/2 server that refuses a stream (REFUSED_STREAM, or a GOAWAY with an earlier stream) has not
acted on the request. libcurl repeats such a request without notice too, and reports the two cases
alike: the request counts as unanswered.
"""

from __future__ import annotations

import errno
import math
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from http import HTTPStatus
from time import monotonic
from typing import Final, Literal

import pycurl

from providers.transport import sockets
from providers.transport.exchange import Failure, FailureKind, Reply, Request, Response
from providers.transport.guard import AddressPolicy
from providers.transport.origin import Plan
from providers.transport.sockets import Sockets, Turn

USER_AGENT: Final = "Notifications"
"""The product alone, because a webhook's endpoint is untrusted."""

CONNECT_TIMEOUT: Final = timedelta(seconds=2)
"""DNS, TCP and TLS together. Below the shortest deadline (3 s), so that a dead host differs from a
slow host."""

IDLE_CONNECTION_LIFE: Final = timedelta(seconds=30)
"""Older idle connections are not reused: servers drop idle connections after 60 s, and a request on
a dropped connection loses its answer."""

_BEFORE_SENDING: Final = {
    pycurl.E_COULDNT_RESOLVE_HOST: "resolve",
    pycurl.E_COULDNT_CONNECT: "connect",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
}
"""Errors of the phases before the request. Any other error counts as such only if nothing was
sent."""

_EXHAUSTED: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
"""Errors of `socket` that tell of this process or host, and not of the provider."""

SHORT_SECONDS: Final = 0.02
"""Longest wait of an answer for this process that is not reported: two steps of the kernel's clock.
The adaptive limit of calls in flight allows for more."""

_DESCRIPTORS: Final = 4
"""Descriptors of a new connection: libcurl's pair for a lookup, a file and a socket."""


class Easy:
    """A reusable handle with at most one request in flight. The loop's thread owns the handle."""

    __slots__ = (
        "_blocked",
        "_body",
        "_ends_at",
        "_guard",
        "_header",
        "_is_first",
        "_is_late",
        "_lacks_socket",
        "_length",
        "_lent",
        "_longest",
        "_on_begin",
        "_port",
        "_sent",
        "_sent_at",
        "_shared",
        "_sockets",
        "_wanted_header",
        "came_early",
        "curl",
        "descriptors",
        "has_proved",
        "met_closed",
        "was_answered",
    )

    def __init__(self, sockets: Sockets) -> None:
        """Set the options of all requests."""
        self.curl = curl = pycurl.Curl()
        self._sockets = sockets
        self.descriptors: set[int] = set()
        self.met_closed = self.came_early = self.has_proved = self.was_answered = False
        self._port = 0
        self._body: list[bytes] = []
        self._length = self._longest = 0
        self._wanted_header = b""
        self._header = ""
        self._guard: AddressPolicy | None = None
        self._sent = False
        self._sent_at = 0.0
        self._on_begin: Callable[[], None] | None = None
        self._ends_at = math.inf
        self._blocked = self._is_late = self._lacks_socket = self._is_first = False
        self._lent: socket.socket | None = None
        self._shared: tuple[object, ...] = ()
        """Values behind the options that `_set_shared` has set."""
        curl.setopt(pycurl.NOSIGNAL, 1)  # signals and threads do not mix
        curl.setopt(pycurl.PROXY, "")  # http_proxy in the environment must not reroute secrets
        curl.setopt(pycurl.USERAGENT, USER_AGENT)  # libcurl's own lists its libraries' versions
        curl.setopt(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        curl.setopt(pycurl.FOLLOWLOCATION, 0)
        curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        curl.setopt(pycurl.CONNECTTIMEOUT_MS, _milliseconds(CONNECT_TIMEOUT.total_seconds()))
        curl.setopt(pycurl.MAXAGE_CONN, int(IDLE_CONNECTION_LIFE.total_seconds()))
        curl.setopt(pycurl.SSL_VERIFYPEER, 1)
        curl.setopt(pycurl.SSL_VERIFYHOST, 2)
        ca_file = ssl.get_default_verify_paths().cafile  # SSL_CERT_FILE, else the system's bundle
        if ca_file:
            curl.setopt(pycurl.CAINFO, ca_file)
        curl.setopt(pycurl.WRITEFUNCTION, self._write)
        curl.setopt(pycurl.OPENSOCKETFUNCTION, self._open_socket)
        curl.setopt(pycurl.SOCKOPTFUNCTION, self._socket_created)
        curl.setopt(pycurl.PREREQFUNCTION, self._before_request)

    def begin(
        self,
        request: Request,
        plan: Plan,
        on_begin: Callable[[], None] | None = None,
        *,
        ends_at: float,
    ) -> None:
        """Prepare the handle for a request; the caller then adds the handle to the multi.

        `on_begin` is called before the first byte of the request leaves.

        The caller ends the request at its deadline, `ends_at` in monotonic seconds. A process that
        stood still may find a connection later: then nothing is sent, because another worker may
        have the delivery.

        After the request's end, `came_early` means that the connection took no further request yet,
        and `met_closed` that the server had closed the connection; nothing was sent in either
        case. After `finish`, `was_answered` means that an answer came, and `has_proved` that the
        answer was the connection's first. `descriptors` has the sockets opened for the request.

        Raises:
            ValueError: the request is malformed and cannot be sent.
        """
        headers = "".join(request.headers)
        if "\n" in headers or "\r" in headers:
            raise ValueError("a header has a line break")
        self._body.clear()
        self._length, self._longest = 0, request.body_limit_bytes
        self._header = ""
        self._guard = request.guard
        self._on_begin = on_begin
        self._ends_at = ends_at
        self._sent = self._blocked = self._is_late = self._lacks_socket = self._is_first = False
        self.met_closed = self.came_early = self.has_proved = self.was_answered = False
        self.descriptors.clear()
        shared = (request.url, request.method, request.wanted_header, self._longest, plan)
        if shared != self._shared:
            self._shared = ()  # an option may be malformed
            self._set_shared(request, plan)
            self._shared = shared
        self.curl.setopt(pycurl.HTTPHEADER, request.headers)
        if request.method == "POST":
            self.curl.setopt(pycurl.POSTFIELDS, request.body)  # makes it a POST

    def _set_shared(self, request: Request, plan: Plan) -> None:
        curl = self.curl
        curl.setopt(pycurl.URL, request.url)
        # One HTTP/2 connection instead of sixty. Over plain HTTP it would only wait for the first
        # answer.
        curl.setopt(pycurl.PIPEWAIT, request.url.startswith("https:"))
        self._wanted_header = request.wanted_header.encode()
        if self._wanted_header:
            curl.setopt(pycurl.HEADERFUNCTION, self._read_header)
        else:
            curl.unsetopt(pycurl.HEADERFUNCTION)
        if request.method == "GET":
            curl.setopt(pycurl.HTTPGET, 1)
            curl.setopt(pycurl.MAXFILESIZE_LARGE, self._longest)  # ends it at the Content-Length
        else:
            curl.setopt(pycurl.MAXFILESIZE_LARGE, 0)  # the begin of a long error is worth reading
        curl.setopt(pycurl.FRESH_CONNECT, plan.fresh)
        curl.setopt(pycurl.FORBID_REUSE, plan.sweeping)

    @property
    def is_sent(self) -> bool:
        """Return True if the first byte of the last request was about to leave."""
        return self._sent

    @property
    def multiplexes(self) -> bool:
        """Return True if the connection of the last request speaks HTTP/2."""
        version: int = self.curl.getinfo(pycurl.INFO_HTTP_VERSION)
        return version == pycurl.CURL_HTTP_VERSION_2_0

    def own_delay(self, *, began_at: float, missed_at: float) -> timedelta:
        """Return the time since `began_at` in which request and answer waited for this process.

        The handle still belongs to the multi, which knows the connection. At `missed_at` a look at
        the sockets began that did not find the answer, so the answer waited since then at most: the
        kernel, which knows how long, is asked only if that is more than `SHORT_SECONDS`. On a
        connection for several requests the answer counts as new as the connection's last bytes.
        """
        if not self._sent:
            return timedelta(0)
        connecting: float = self.curl.getinfo(pycurl.PRETRANSFER_TIME)
        before, after = max(0.0, self._sent_at - began_at - connecting), 0.0
        now = monotonic()
        if now - max(missed_at, self._sent_at) > SHORT_SECONDS:
            after = sockets.seconds_since_input(self.curl.getinfo(pycurl.ACTIVESOCKET))
            after = min(after, now - self._sent_at)
        return timedelta(seconds=before + after)

    def finish(self, error: int, *, elapsed: timedelta, own_delay: timedelta) -> Reply:
        """Return the reply of the request, given libcurl's code (`E_OK` is 0)."""
        status: int = self.curl.getinfo(pycurl.RESPONSE_CODE)
        answered = error == pycurl.E_OK or status >= HTTPStatus.OK  # 1xx are not answers
        self.was_answered = answered
        self.has_proved = self._is_first and answered
        if self._is_first:
            self._sockets.record_first(self._port, answered=answered)
        if answered:
            seconds: int = self.curl.getinfo(pycurl.RETRY_AFTER)
            return Response(
                status=status,
                body=b"".join(self._body),
                elapsed=elapsed,
                own_delay=own_delay,
                retry_after=timedelta(seconds=seconds) if seconds > 0 else None,
                header=self._header,
                complete=error == pycurl.E_OK,
                is_too_long=error == pycurl.E_FILESIZE_EXCEEDED or self._length > self._longest,
            )
        kind, code = self._judge(error)
        return Failure(kind=kind, code=code, elapsed=elapsed)

    def _judge(self, error: int) -> tuple[FailureKind, str]:
        timed_out = error == pycurl.E_OPERATION_TIMEDOUT
        if self._sent:
            return FailureKind.NO_ANSWER, "timeout" if timed_out else "cut"
        if self._blocked:
            return FailureKind.REFUSED, "forbidden_address"
        if error in {pycurl.E_URL_MALFORMAT, pycurl.E_UNSUPPORTED_PROTOCOL}:
            return FailureKind.REFUSED, "malformed_request"
        if self._lacks_socket or (error != pycurl.E_COULDNT_CONNECT and self._finds_shortage()):
            return FailureKind.NEVER_SENT, "not_started"
        if self._is_late:  # the process stood still: the loop ends a request at its deadline
            return FailureKind.NEVER_SENT, "not_started"
        return FailureKind.NEVER_SENT, _BEFORE_SENDING.get(error, "connect")

    def _finds_shortage(self) -> bool:
        """Return True if the process lacks descriptors for a new connection.

        A lookup of a name, or a read of the certificates, fails without telling why.
        """
        try:
            with ExitStack() as opened:
                for _ in range(_DESCRIPTORS):
                    opened.enter_context(socket.socket(socket.AF_UNIX))
        except OSError as error:
            self._sockets.report_shortage(error)
            return error.errno in _EXHAUSTED
        return False

    # Called by libcurl, on the loop's thread

    def _write(self, chunk: bytes) -> int | None:
        if self._is_first:  # libcurl may give the connection away before `finish`
            self._sockets.record_first(self._port, answered=True)
        self._length += len(chunk)
        if self._length > self._longest:
            return -1  # ends the transfer; the status is known
        self._body.append(chunk)
        return None

    def _read_header(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == self._wanted_header:
            self._header = value.strip().decode("latin-1")

    def _open_socket(self, _purpose: int, target: pycurl.CurlSockAddr) -> socket.socket | int:
        if self._guard is not None and not self._guard.permits(str(target.addr[0])):
            self._blocked = True
            return pycurl.SOCKET_BAD
        try:
            self._lent = socket.socket(target.family, target.socktype, target.protocol)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                self._lacks_socket = True
                self._sockets.report_shortage(error)
            return pycurl.SOCKET_BAD
        return self._lent

    def _socket_created(self, descriptor: int, _purpose: int) -> int:
        if self._lent is not None:
            self._lent.close()  # pycurl has duplicated it, and closes only its own
            self._lent = None
        self.descriptors.add(descriptor)
        self._sockets.record_socket(descriptor)
        return pycurl.SOCKOPT_OK

    def _before_request(
        self, address: str, _local: str, _port: int, local_port: int
    ) -> Literal[0, 1]:
        if self._sent:
            return 1
        if self._guard is not None and not self._guard.permits(address):
            self._blocked = True  # an unguarded request had opened this connection
            return 1
        self._sent_at = monotonic()
        if self._sent_at >= self._ends_at:
            self._is_late = True
            return 1
        turn = self._sockets.take_turn(local_port)
        if turn is Turn.CLOSED or turn is Turn.EARLY:
            self.met_closed, self.came_early = turn is Turn.CLOSED, turn is Turn.EARLY
            return 1
        self._port, self._is_first, self._sent = local_port, turn is Turn.FIRST, True
        if self._on_begin is not None:
            self._on_begin()
        return 0


def _milliseconds(seconds: float) -> int:
    """Round up, because 0 means no limit to libcurl."""
    return max(1, math.ceil(seconds * 1000))
