"""Bulk jobs: one message to an audience, in pages, at a rate.

    create ──> one row ──> ranges ──> expand ──> rows of deliveries ──> relay ──> lanes
                                        │
                                      page: members -> messages, or reasons

    create      checks a request and stores the job; the template version is pinned
    ranges      divides the audience, so that several expanders share a job
    page        builds the messages of some members, with the rules of accept
    expand      stores one page of a range with its checkpoint in one transaction
    pace        the number of rows that a job may create now, and their due times
    lane_shares the rows that a lane allows to each of its jobs, by weight
    stages      the ranges that may go on: start times, test group, sample
    changes     pause, resume, cancel and abort
    sweep       limits, ends of stages, winners (expand_sweep: the pages of running jobs)
    management  `manage.py bulk_job`
    held        deliveries of a resumed job leave at the rate of the job
    progress    the start and the end of a job
    figures     the totals and the funnel of a job, for readers (figure_rows: their rows)
    calendar_rows  the first jobs of each day
    mail_checks unsubscribe links in the mails of a job that is not created (variant_checks: texts
                that a variant of a template leaves to the base text)
    dry_run     the counts, texts and costs of a job that is not created (renderings: the texts)

A job is a row, so the creation of a job takes the same time for ten recipients and for fifty
million. The sweep `expand` reads the audience in pages of at most 5,000 recipients. An opt-out, an
entry of the suppression list or a missing contact leaves out a recipient: no row is stored, and the
reason is counted. The checkpoint of a range is stored in the transaction of the page's rows, and
only from the value at the start of the page. So a recipient gets one message, after a kill and with
two expanders on one range. The same transaction stores the addresses of the messages with a key
unique in the job: a mailbox or number of several recipients gets one message.
"""
