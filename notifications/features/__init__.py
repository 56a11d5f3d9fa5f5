"""The features, a Django app each: models, rules, SQL, API, admin pages, templates, sweeps.

    analytics        figures over time: an operation, pages with plots, the daily report
    archive          days past retention as Parquet files
    attachments      uploaded files, sent with e-mails
    audiences        groups of recipients: topics, expressions, uploads, snapshots
    back_pressure    refused and dropped P3 of a lane that is behind
    brands           look of mails and pages, and sender of e-mails
    bulk_jobs        one message to an audience
    cancel_jobs      cancellation of many notifications by a filter
    certificates     alerts about certificates of the settings before and after their end
    connect          set-up of the accounts at providers
    digests          one message in place of several
    inbox            in-app messages of each recipient, with live changes
    money            budgets of a day, settled costs, the report of a month
    moving           recipients, templates and suppressed addresses from other systems
    preference_page  the page with all choices of a recipient
    receipt_lookups  receipts that a vendor tells when asked
    recipient_tokens tokens of apps and browsers of recipients, and the secrets that sign them
    schedules        recurring notifications
    series           several messages to a recipient over days
    single_sign_on   sign-in of operators by an identity provider
    sms_pumping      ceilings of SMS against pumping
    template_studio  pages on which people edit templates

Each folder has the same parts, where the feature needs them:

    apps.py       the manifest (`notifications.core.feature`)
    models.py     the tables
    rules/        decisions without I/O
    rows.py       reads and writes of the tables; sql/ has the statements, lua/ the scripts of Redis
    api/          operations, with their URLs, access rules and examples
    admin/        pages for operators; templates/ has their templates
    sweep.py      periodic work

The core does not import a feature. A feature imports another feature only if its manifest needs the
other: bulk jobs need audiences and cancel jobs, moving needs audiences.
"""
