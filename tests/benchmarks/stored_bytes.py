"""[stored_bytes] What a notification leaves behind: in Postgres, and in the state instance.

Bytes of heap (TOAST included) and of indexes a notification with an idempotency key, one delivery,
one attempt and one receipt, as the tables are after the run: with the dead versions of rows that
nobody has vacuumed yet. The state instance's bytes are its used memory, which holds the sent-ledger
(for minutes) and the caps, and the mean size of its keys.
"""

from __future__ import annotations

import datetime as dt
import http.client
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import redis

from notifications.core import clock
from notifications.core.rules import ids
from notifications.core.rules.states import Status
from providers import standard_webhooks
from tests.benchmarks import load
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import Stage

_COUNT: Final = 20_000
_WARM: Final = 1_000
_PER_CALL: Final = 100
"""Receipts in one POST, as the sandbox sends them."""
_TABLES: Final = ("notification", "delivery", "attempt", "event", "idempotency_key")
_SIZES: Final = """
    SELECT split_part(relname, '_2', 1), pg_table_size(oid), pg_indexes_size(oid)
    FROM pg_class WHERE relname = ANY(%s) AND relkind = 'r' ORDER BY relname
"""
_SENT: Final = """
    SELECT id::text, provider_message_id FROM delivery WHERE id >= %s AND status = %s
"""


class NoReceipt(Exception):
    """A receipt was not taken, or moved no delivery; the message has the answer."""


def measure(stage: Stage) -> Figure:
    """Bytes in Postgres; the state instance's are a note."""
    stage.run()
    stage.clear()
    _deliver(stage, _WARM)  # what exists once is there before
    stage.clear()
    before = _used(stage)
    _deliver(stage, _COUNT)
    state = (_used(stage) - before) / _COUNT
    sizes = _sizes(stage)
    heap, indexes = (sum(each[column] for each in sizes.values()) for column in (0, 1))
    return Figure(
        name="stored_bytes",
        value=(heap + indexes) / _COUNT,
        unit="bytes a notification in Postgres",
        notes=(
            f"heap {heap / _COUNT:,.0f}, indexes {indexes / _COUNT:,.0f}",
            *(
                f"{name}: heap {own / _COUNT:,.0f}, indexes {index / _COUNT:,.0f}"
                for name, (own, index) in sizes.items()
            ),
            f"state instance, right after the run: {state:,.0f} bytes a message",
            *_keys(stage),
            f"{_COUNT:,} notifications with one delivery, attempt and receipt each",
        ),
    )


def _deliver(stage: Stage, count: int) -> None:
    load.post_batches(stage, load.batches(count, priority="P2"))
    load.wait_until_sent(stage, count)
    with stage.database() as link:
        today = ids.floor_of(clock.now().date())
        sent = [(str(own), str(name)) for own, name in link.execute(_SENT, [today, Status.SENT])]
    if len(sent) != count:
        raise NoReceipt(f"{len(sent)} of {count} are sent")
    for start in range(0, count, _PER_CALL):
        _confirm(stage, sent[start : start + _PER_CALL])


def _confirm(stage: Stage, sent: Sequence[tuple[str, str]]) -> None:
    """Post receipts as the sandbox does.

    Raises:
        NoReceipt: one of them moved nothing.
    """
    now = clock.now()
    body = json.dumps({
        "receipts": [
            {
                "kind": "delivered",
                "delivery_id": delivery_id,
                "message_id": message_id,
                "occurred_at": now.isoformat(),
            }
            for delivery_id, message_id in sent
        ]
    }).encode()
    secret = standard_webhooks.Secret.parse(os.environ["NOTIFY_SANDBOX_SECRET"])
    signed = standard_webhooks.sign(body, message_id=f"rcpt_{sent[0][0]}", at=now, secrets=[secret])
    link = load.connection(stage)
    try:
        headers = {"Content-Type": "application/json", **signed}
        link.request("POST", "/v1/receipts/sandbox", body, headers)
        reply = link.getresponse()
        answer = reply.read()
    finally:
        link.close()
    if reply.status != http.client.OK or json.loads(answer)["matched"] != len(sent):
        raise NoReceipt(f"{reply.status}: {answer[:300]!r}")


def _sizes(stage: Stage) -> dict[str, tuple[int, int]]:
    """Heap and indexes in bytes, by table, of today's partitions."""
    today: dt.date = clock.now().date()
    names = [
        table if table == "idempotency_key" else f"{table}_{today:%Y%m%d}" for table in _TABLES
    ]
    with stage.database() as link:
        return {str(name): (heap, index) for name, heap, index in link.execute(_SIZES, [names])}


def _keys(stage: Stage) -> Iterator[str]:
    """Return a line for each kind of key of the state instance: its number and mean bytes."""
    sizes: dict[str, list[int]] = defaultdict(list)
    with redis.Redis.from_url(stage.state_url) as state:
        for key in state.scan_iter(count=1_000):
            sizes[key.decode().partition(":")[0]].append(state.memory_usage(key, samples=0))
    for kind, found in sorted(sizes.items()):
        yield f"keys {kind}: {len(found):,}, {sum(found) / len(found):,.0f} bytes each"


def _used(stage: Stage) -> int:
    with redis.Redis.from_url(stage.state_url) as state:
        return int(state.info("memory")["used_memory"])
