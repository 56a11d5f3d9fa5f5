"""[smtp_latency] 2,000 mails to a server that takes 100 ms for each.

P3, which one process sends, over the connections that the SMTP adapter opens by default. Compared
with what so many connections can carry: connections / latency. Every attempt must be a call that
was answered, and the provider's breaker must not trip.
"""

from __future__ import annotations

from typing import Final

from notifyproj.devstack.ports import LOOPBACK
from providers.email.mime import mailbox
from providers.email.smtp import Config, server_url
from tests.benchmarks import load
from tests.benchmarks.figures import Figure
from tests.benchmarks.routes import mails_by
from tests.benchmarks.smtp_sink import SmtpSink
from tests.benchmarks.stage import VAR, Stage

_MAILS: Final = 2_000
_MILLISECONDS: Final = 100
_TARGET: Final = 0.9


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    sink = SmtpSink(VAR / "slow_mail", port=stage.mail_port, milliseconds=_MILLISECONDS)
    url = server_url(f"smtp://{LOOPBACK}:{sink.port}")
    connections = Config(url=url, from_=mailbox("no-reply@shop.example")).connections
    sink.start()
    try:
        with mails_by(stage, "smtp"):
            rate, others, trips = _send(stage)
    finally:
        sink.stop()
    most = connections * 1000 / _MILLISECONDS
    return Figure(
        name="smtp_latency",
        value=rate,
        unit=f"mails/s, {_MILLISECONDS} ms each",
        baseline=f"mails/s that {connections} connections can carry",
        baseline_value=most,
        ratio=rate / most,
        target=f">= {_TARGET}x, no attempt lost, no trip",
        met=rate / most >= _TARGET and not others and not trips,
        notes=(
            f"attempts that were no answered call: {others}",
            f"times that the breaker tripped: {trips}",
        ),
    )


def _send(stage: Stage) -> tuple[float, int, int]:
    """Mails a second from the first call to the last answer, odd attempts, breaker trips."""
    stage.clear()
    before = _trips(stage)
    load.post_batches(stage, load.batches(_MAILS, priority="P3"))
    load.wait_until_sent(stage, _MAILS)
    with stage.database() as link:
        [(seconds, others)] = link.execute(
            "SELECT (extract(epoch FROM max(started_at + latency_ms * interval '1 ms')"
            " - min(started_at)) * 1000)::bigint,"
            " count(*) FILTER (WHERE outcome <> 'accepted' OR latency_ms < %s) FROM attempt",
            [_MILLISECONDS],
        ).fetchall()
    return _MAILS * 1000 / seconds, others, _trips(stage) - before


def _trips(stage: Stage) -> int:
    with stage.database() as link:
        query = "SELECT coalesce(sum(trips), 0)::bigint FROM notifications_breaker"
        [(count,)] = link.execute(query).fetchall()
    return count
