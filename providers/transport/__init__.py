"""HTTP for every adapter: one libcurl multi on one thread per process, and one for untrusted URLs.

libcurl was chosen because a small POST costs 30 us of CPU, a tenth of the cost of Python's own HTTP
clients, and because libcurl has HTTP/2, connection reuse and precise timeouts.

    adapter (any thread)            loop thread (one or two per process)
    Transport.send(requests) --->   Loop: waits, starts, collects      ---> provider
       ^                            Easy: one request on one handle
       '------ (index, Reply) as they complete ------'

    exchange   requests and replies
    client     Transport, the only interface
    loop       the thread that starts and collects requests
    watching   the sockets that the loop waits for
    origin     how many requests the connections to one server can carry
    lines      waiting requests: urgent before patient, bounds, deadlines
    easy       one libcurl handle: options, and the meaning of errors
    sockets    closed connections, and connections that may carry several requests
    guard      allowed addresses of URLs from untrusted sources

Guarantees: each request gets exactly one Reply, within a deadline from the request's start; at
most one copy of a request goes on the wire; "never sent" means that no byte of the request left.
A stopped process breaks the guarantees.
"""

from providers.transport.client import PER_STRANGER, Transport, Usage
from providers.transport.exchange import Failure, FailureKind, Reply, Request, Response

__all__ = [
    "PER_STRANGER",
    "Failure",
    "FailureKind",
    "Reply",
    "Request",
    "Response",
    "Transport",
    "Usage",
]
