"""HTTP for every adapter: one libcurl multi on one thread per process.

Why libcurl: a small POST costs 30 us of CPU here, a tenth of what Python's own HTTP clients need,
and HTTP/2, connection reuse and precise timeouts come with it.

    adapter (any thread)            loop thread (one per process)
    Transport.send(requests) --->   Loop: waits, starts, collects      ---> provider
       ^                            Easy: one request on one handle
       '------ (index, Reply) as they complete ------'

    exchange   what goes in and what comes back
    client     Transport, the only door
    loop       the thread that starts and collects requests
    origin     how many requests the connections to one server can carry
    lines      who waits: urgent before patient, bounds, deadlines
    watching   which sockets it waits for
    easy       one libcurl handle: options, and what its errors mean
    sockets    which connections have been closed under us, and which may carry more than one
    guard      which addresses a URL that a stranger gave us may lead to

What it promises: each request gets exactly one Reply, within a deadline from its own start; at
most one copy of it goes on the wire; "never sent" is only said of a request of which no byte left.
What breaks it: a process that is stopped.
"""

from providers.transport.client import PER_STRANGER, Transport
from providers.transport.exchange import Failure, FailureKind, Reply, Request, Response

__all__ = ["PER_STRANGER", "Failure", "FailureKind", "Reply", "Request", "Response", "Transport"]
