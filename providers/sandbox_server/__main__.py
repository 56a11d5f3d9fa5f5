"""Run the sandbox: `python -m providers.sandbox_server --help`.

The signing secret of receipts comes from NOTIFY_SANDBOX_SECRET, because every user of the machine
can read command lines.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from providers import configuration
from providers.sandbox import NAME
from providers.sandbox_server.app import App
from providers.sandbox_server.ledger import KEEP, Ledger
from providers.sandbox_server.receipts import ReceiptSender
from providers.sandbox_server.wire import Connection
from providers.transport import Transport

SECRET = configuration.setting_name(NAME, "secret")


def main() -> int:
    """Read the command line and serve until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m providers.sandbox_server")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=8025, help="0: any; default: %(default)s")
    parser.add_argument("--journal", type=Path, help="file that survives a restart")
    parser.add_argument("--receipts-url", default="", help="where receipts go; default: nowhere")
    parser.add_argument("--keep", type=int, default=KEEP, help="deliveries kept (%(default)s)")
    parser.add_argument(
        "--allow-host", action="append", default=[], help="a name it may be asked by, as `sandbox`"
    )
    parser.add_argument("--admin-url", default="", help="where messages lead; default: nowhere")
    arguments = parser.parse_args()
    try:
        asyncio.run(_serve(arguments))
    except ValueError as error:
        sys.exit(f"{SECRET}: {error}")
    except OSError as error:
        sys.exit(f"sandbox: {error.strerror or error}")
    return 0


async def _serve(arguments: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stop.set)
    sender = None
    if arguments.receipts_url:
        keys = configuration.secrets(os.environ.get(SECRET, ""))
        sender = ReceiptSender(url=arguments.receipts_url, secrets=keys, transport=Transport())
    app = App(
        Ledger(journal=arguments.journal, keep=arguments.keep),
        sender,
        hosts=frozenset(arguments.allow_host),
        admin_url=arguments.admin_url.rstrip("/"),
    )
    server = await loop.create_server(
        lambda: Connection(app.handle), arguments.host, arguments.port, backlog=1024
    )
    sending = asyncio.create_task(sender.run()) if sender is not None else None
    host, port = server.sockets[0].getsockname()[:2]
    print(f"sandbox listening on http://{host}:{port}/", flush=True)
    await stop.wait()
    server.close()
    if sending is not None:
        sending.cancel()


if __name__ == "__main__":
    sys.exit(main())
