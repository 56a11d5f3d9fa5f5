"""[smtp_pool] Mails a second through the SMTP adapter, whose connections stay open.

Compared with Django's `send_mail`, which opens a connection for each mail unless it is given one.
The server is next door and asks for neither encryption nor a login, so a connection costs as
little as it ever can: against a real one the ratio grows by its round trips and its handshake.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.core.mail import get_connection, send_mail

from notifyproj.devstack.ports import LOOPBACK
from providers.contract import Accepted, Channel, Message
from providers.email.mime import mailbox
from providers.email.smtp import Config, Smtp, server_url
from tests.benchmarks import costs
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.smtp_sink import SmtpSink
from tests.benchmarks.stage import VAR, Stage

_COUNT: Final = 1_000
_DEADLINE: Final = timedelta(seconds=30)
_SENDER: Final = "no-reply@shop.example"
_TITLE: Final = "Your order is ready"
_BODY: Final = "Your order is ready. Come and get it.\n" * 10


class Lost(Exception):
    """The server did not take every mail; the message says how many it took."""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    sink = SmtpSink(VAR)
    ours, theirs = costs.Meter(), costs.Meter()
    config = Config(url=server_url(f"smtp://{LOOPBACK}:{sink.port}"), from_=mailbox(_SENDER))
    with stage.standing_still():
        sink.start()
        try:
            with closing(Smtp(config)) as smtp:
                found = paired(
                    ours=lambda: _rate(sink, ours, lambda: _pooled(smtp)),
                    theirs=lambda: _rate(sink, theirs, lambda: _one_by_one(sink.port)),
                )
        finally:
            sink.stop()
    return Figure(
        name="smtp_pool",
        value=found.ours,
        unit="mails/s",
        baseline="mails/s (Django's send_mail, one connection each)",
        baseline_value=found.theirs,
        ratio=found.ratio,
        notes=(
            f"{config.connections} connections; {ours.each(PAIRS * _COUNT)}",
            f"send_mail: {theirs.each(PAIRS * _COUNT)}",
        ),
    )


def _rate(sink: SmtpSink, meter: costs.Meter, send: Callable[[], None]) -> float:
    before = sink.taken()
    components = {"client": os.getpid(), "server": sink.pid or os.getpid()}
    with costs.measured(components, into=meter):
        began = time.perf_counter()
        send()
        took = time.perf_counter() - began
    taken = sink.taken() - before
    if taken != _COUNT:
        raise Lost(f"the server took {taken} of {_COUNT} mails")
    return _COUNT / took


def _pooled(smtp: Smtp) -> None:
    batch = [_message(number) for number in range(_COUNT)]
    for result in smtp.send(batch, deadline=_DEADLINE):
        if not isinstance(result.outcome, Accepted):
            raise Lost(repr(result.outcome))


def _one_by_one(port: int) -> None:
    for number in range(_COUNT):
        connection = get_connection(
            "django.core.mail.backends.smtp.EmailBackend", host=LOOPBACK, port=port
        )
        send_mail(_TITLE, _BODY, _SENDER, [_address(number)], connection=connection)


def _message(number: int) -> Message:
    return Message(
        delivery_id=UUID(int=number),
        notification_id=UUID(int=number),
        idempotency_key=str(number),
        channel=Channel.EMAIL,
        address=_address(number),
        title=_TITLE,
        body=_BODY,
    )


def _address(number: int) -> str:
    return f"person-{number}@mailbox.example"
