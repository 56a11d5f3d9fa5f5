"""Providers: all code that calls vendors.

    registry --> a vendor's module (sandbox, email.smtp, webhook.standard)
                   |  Config, send(batch), parse_receipt(), VENDOR
                   |--> contract        Message, Outcome, Receipt, Provider
                   |--> message_parts   Attachment, InApp: parts of messages on one channel
                   |--> mail_headers    headers of an e-mail
                   |--> vendor          from the environment to an adapter
                   |--> html_references character references in HTML of other people
                   |--> hmac_sha256     HMAC of short texts
                   |--> rounds          a batch over HTTP: prepare, send, judge
                   |--> http_outcomes   outcomes of plain HTTP answers
                   |--> aws             shared parts of the AWS vendors
                   '--> transport       one libcurl loop per process

    plugins          vendors of installed packages
    dry_run          the null provider, for environments without outgoing messages
    conformance      the adapters' contract, as checks over real sockets
    sandbox_server   a local provider, for demonstrations and tests

A vendor may import the modules beside the arrows; never another vendor, never Django, Celery or a
database driver. One exception: `email.anymail` imports Django at the first message or callback.

Example in a shell:

    from providers import registry
    provider = registry.build_all(os.environ)["sandbox"]
    for result in provider.send([message], deadline=timedelta(seconds=3)): ...

Guarantee: one outcome per message, within the deadline, and "not sent" only if no copy was sent.
"""
