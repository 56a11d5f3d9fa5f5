"""The commands before a content: in one write if the server permits it, over a live connection."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Event, Thread

import pytest

from providers.contract import Accepted, Outcome, Rejected, Throttled, Unavailable
from providers.email.mime import mailbox
from providers.email.smtp import Config, Smtp, server_url
from tests.providers.email.test_smtp import SENDER, SOON, adapter
from tests.providers.messages import message

ENVELOPE = ["MAIL", "RCPT", "DATA"]
Answer = Callable[[str, int], bytes]
"""The reply to a command of a connection, whose number begins at 1; none closes the connection."""


def usual(verb: str, _connection: int) -> bytes:
    return b"354 go on\r\n" if verb == "DATA" else b"250 OK\r\n"


def at_first(verb: str, reply: bytes) -> Answer:
    """Give a reply to a command of the first connection, and the usual replies."""
    return lambda asked, connection: (
        reply if (asked, connection) == (verb, 1) else usual(asked, connection)
    )


class Server:
    """Answers connections one after another, and notes the commands."""

    def __init__(self, answer: Answer, *, greets: bytes) -> None:
        self._answer, self._greets = answer, greets
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.groups: list[list[str]] = []
        """The verbs of each read, without EHLO and QUIT; a content is `content`."""
        self.connections = 0
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                link, _ = self._listener.accept()
                self.connections += 1
                with suppress(OSError), link:
                    self._talk(link, self.connections)

    def _talk(self, link: socket.socket, connection: int) -> None:
        link.sendall(b"220 here\r\n")
        is_content, content = False, b""
        while read := link.recv(65_536):
            if is_content:
                content += read
                if content.endswith(b"\r\n.\r\n"):
                    is_content, content = False, b""
                    self.groups.append(["content"])
                    link.sendall(self._answer("content", connection))
                continue
            verbs = [line[:4].decode().upper() for line in read.splitlines()]
            if verbs == ["EHLO"]:
                link.sendall(self._greets)
                continue
            if verbs == ["QUIT"]:
                return
            self.groups.append(verbs)
            for verb in verbs:
                reply = self._answer(verb, connection)
                if not reply:
                    return
                link.sendall(reply)
                is_content = reply.startswith(b"354")


@contextmanager
def serving(answer: Answer = usual, *, groups: bool = True) -> Iterator[tuple[Server, Smtp]]:
    greets = b"250-here\r\n250 PIPELINING\r\n" if groups else b"250 here\r\n"
    with (
        closing(Server(answer, greets=greets)) as server,
        closing(adapter(server.port, connections=1)) as smtp,
    ):
        yield server, smtp


def sent(smtp: Smtp) -> Outcome:
    (result,) = smtp.send([message("maria@mailbox.example")], deadline=SOON)
    return result.outcome


def test_a_server_that_permits_it_gets_the_envelope_in_one_write() -> None:
    with serving() as (server, smtp):
        assert isinstance(sent(smtp), Accepted)
        assert isinstance(sent(smtp), Accepted)
    assert server.groups == [ENVELOPE, ["content"], ["RSET", *ENVELOPE], ["content"]]
    assert server.connections == 1


def test_another_server_gets_a_command_at_a_time() -> None:
    with serving(groups=False) as (server, smtp):
        assert isinstance(sent(smtp), Accepted)
    assert server.groups == [*([verb] for verb in ENVELOPE), ["content"]]


def refusing_the_first(*, to_data: bytes) -> Answer:
    """Refuse the recipient of the first message; later messages get the usual replies."""
    messages = 0

    def answer(verb: str, connection: int) -> bytes:
        nonlocal messages
        messages += verb == "MAIL"
        refusals = {"RCPT": b"550 5.1.1 gone\r\n", "DATA": to_data} if messages == 1 else {}
        return refusals.get(verb, usual(verb, connection))

    return answer


GONE = Rejected(code="550 5.1.1", detail="5.1.1 gone", contact_is_dead=True)


@pytest.mark.parametrize("groups", [True, False])
def test_behind_a_refused_recipient_the_connection_is_used_again(*, groups: bool) -> None:
    answer = refusing_the_first(to_data=b"503 no recipient\r\n")
    with serving(answer, groups=groups) as (server, smtp):
        assert sent(smtp) == GONE
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 1
    verbs = [verb for group in server.groups for verb in group]
    refused = ENVELOPE if groups else ENVELOPE[:2]
    assert verbs == [*refused, "RSET", *ENVELOPE, "content"]


def test_a_server_that_asks_for_the_content_of_a_refused_recipient_gets_none() -> None:
    answer = refusing_the_first(to_data=b"354 go on\r\n")
    with serving(answer) as (server, smtp):
        assert sent(smtp) == GONE
        assert isinstance(sent(smtp), Accepted)
    assert server.groups == [ENVELOPE, ENVELOPE, ["content"]]
    assert server.connections == 2


def test_a_refusal_counts_though_the_connection_ends_behind_it() -> None:
    answer = refusing_the_first(to_data=b"")
    with serving(answer) as (server, smtp):
        assert sent(smtp) == GONE
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 2


@pytest.mark.parametrize("groups", [True, False])
@pytest.mark.parametrize("reply", [b"", b"421 4.4.2 idle for too long\r\n"])
def test_a_kept_connection_that_has_ended_is_replaced(reply: bytes, *, groups: bool) -> None:
    with serving(at_first("RSET", reply), groups=groups) as (server, smtp):
        assert isinstance(sent(smtp), Accepted)
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 2
    assert server.groups.count(["content"]) == 2


@pytest.mark.parametrize("groups", [True, False])
def test_a_connection_that_refuses_to_be_reset_is_replaced(*, groups: bool) -> None:
    refuse = refusing_the_first(to_data=b"503 no recipient\r\n")

    def answer(verb: str, connection: int) -> bytes:
        return b"500 what?\r\n" if verb == "RSET" else refuse(verb, connection)

    with serving(answer, groups=groups) as (server, smtp):
        assert sent(smtp) == GONE
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 2


@pytest.mark.parametrize("groups", [True, False])
def test_a_new_connection_that_ends_at_once_is_a_failure_of_the_server(*, groups: bool) -> None:
    with serving(lambda *_: b"", groups=groups) as (server, smtp):
        assert sent(smtp) == Unavailable(code="connect")
    assert server.connections == 1


@pytest.mark.parametrize("groups", [True, False])
@pytest.mark.parametrize("unasked", [b"451 4.4.2 Timeout waiting for data\r\n", b"250 OK\r\n"])
def test_a_reply_that_nobody_waits_for_ends_the_use_of_a_connection(
    unasked: bytes, *, groups: bool
) -> None:
    with serving(at_first("content", b"250 taken\r\n" + unasked), groups=groups) as (server, smtp):
        assert isinstance(sent(smtp), Accepted)
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 2
    assert "RSET" not in [verb for group in server.groups for verb in group]


def test_a_second_refusal_of_a_content_is_not_that_of_the_next_message() -> None:
    reply = b"552 5.3.4 too big\r\n"
    with serving(at_first("content", reply + reply)) as (server, smtp):
        assert sent(smtp) == Rejected(code="552 5.3.4", detail="5.3.4 too big")
        assert isinstance(sent(smtp), Accepted)
    assert server.connections == 2


def test_a_server_that_speaks_within_the_content_gets_no_final_dot() -> None:
    refusal = b"354 go on\r\n552 5.3.4 too big\r\n"
    with serving(at_first("DATA", refusal)) as (server, smtp):
        assert sent(smtp) == Rejected(code="552 5.3.4", detail="5.3.4 too big")
    assert ["content"] not in server.groups


@pytest.mark.parametrize(
    ("verb", "reply", "expected"),
    [
        ("RCPT", b"550 5.1.1 gone\r\n", GONE),
        (
            "MAIL",
            b"421 4.7.28 slow down\r\n",
            Throttled(code="421 4.7.28", detail="4.7.28 slow down"),
        ),
    ],
)
def test_a_server_that_is_mute_behind_a_refusal_delays_it_little(
    verb: str, reply: bytes, expected: Outcome
) -> None:
    ended = Event()

    def answer(asked: str, _connection: int) -> bytes:
        if asked == verb:
            return reply
        if asked == "DATA":
            ended.wait(60)
        return usual(asked, 1)

    with serving(answer) as (_, smtp):
        try:
            assert sent(smtp) == expected
        finally:
            ended.set()


def test_a_throttled_message_uses_one_kept_connection() -> None:
    throttled = b"421 4.7.28 slow down\r\n"
    messages = 0

    def answer(verb: str, connection: int) -> bytes:
        nonlocal messages
        messages += verb == "MAIL"
        return throttled if verb == "MAIL" and messages > 1 else usual(verb, connection)

    with serving(answer) as (server, smtp):
        assert isinstance(sent(smtp), Accepted)
        assert sent(smtp) == Throttled(code="421 4.7.28", detail="4.7.28 slow down")
    assert server.connections == 1


def test_a_challenge_that_is_no_base64_ends_no_thread() -> None:
    greets = b"250-here\r\n250 AUTH CRAM-MD5\r\n"
    with closing(Server(lambda *_: b"334 abc\r\n", greets=greets)) as server:
        url = server_url(f"smtp://user:password@127.0.0.1:{server.port}")
        config = Config(url=url, from_=mailbox(SENDER), connections=1)
        with closing(Smtp(config)) as smtp:
            assert sent(smtp) == Unavailable(code="Error")
            (found,) = smtp.check(deadline=SOON)
            assert (found.is_good, found.detail) == (False, "Error")
