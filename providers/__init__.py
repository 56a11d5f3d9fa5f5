"""Providers: everything that talks to a vendor, and nothing else.

    registry --> a vendor's module (sandbox, email.smtp, webhook.standard)
                   |  Config, send(batch), parse_receipt(), VENDOR
                   |--> contract        the words: Message, six Outcomes, Receipt
                   |--> vendor          from the environment to an adapter
                   |--> rounds          a batch over HTTP: prepare, send, judge
                   |--> http_outcomes   what HTTP's own answers mean
                   |--> aws             what the vendors of one cloud share
                   '--> transport       one libcurl loop per process

    dry_run          the null provider, for environments where nothing may leave
    conformance      what every adapter must keep, as checks over real sockets
    sandbox_server   a provider of our own, for demonstrations and tests

A vendor may import what is drawn beside the arrows; never another vendor, never Django, Celery or a
database. To try one in a shell:

    from providers import registry
    provider = registry.build_all(os.environ)["sandbox"]
    for result in provider.send([message], deadline=timedelta(seconds=3)): ...

The promise: one outcome per message, within the deadline, and "not sent" only where that is
certain.
"""
