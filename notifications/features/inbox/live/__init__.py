"""The live process: streams of server-sent events with the changes of inboxes.

    client -- http --> stream --> hub <-- subscriptions <-- announcements (state instance)
                                   |
                                 reads --> Postgres, a statement for many recipients

    http            the ASGI application: tokens, limits, problems, figures
    stream          a connection with an event in flight
    hub             the connected recipients and the rounds of reads
    reads           changes of many recipients as events
    frames          the texts of the events
    subscriptions   announcements of new inbox versions by pub/sub
    service         the tasks: rounds, heartbeats, comparisons, figures
    figures         metrics of the process

No event is lost between page 1 and the stream: a client sends the version of the page, the process
subscribes to the recipient's announcements and reads the changes since the version afterwards. No
log of events exists: the table of items is the log, because an item has the version of the last
change. So a process may be killed, frozen or without servers at any moment. The next comparison of
versions finds a stream that is behind.

The web server is uvicorn with httptools on asyncio. Measured with 2,000 idle streams of an empty
application on Python 3.11, against granian's ASGI:

    uvicorn, httptools   11.6 KiB a connection, 9,500 connections a second
    uvicorn, h11         11.1 KiB, 5,600
    granian              19.7 KiB, 1,900

All three stop `send` for a slow reader after the buffers of kernel and server, and report a
disconnect at once. uvicorn also gives the transport of a connection, so that the process can drop
a slow reader at once. With granian an application can only return, and the connection then waits
for the slow reader.
"""
