"""Moving: recipients, templates and suppressed addresses from files of other systems.

    files of a vendor -> vendors/NAME.read -> items -> plans.check -> plans.write

    export        the parts of an export, in the words of this service, with their places
    files         an exported file as CSV or JSON, with places
    people        a recipient, built from the fields of an export
    vendors/      a module for each vendor: the format of its files
    languages/    template languages of vendors to the language of templates here
    plans         check all files, then write in parts; the report
    texts         a template, built from the texts of an export
    recipients    the recipients that an import would change, and the changes
    stored_recipients    the stored state of these recipients, and what earlier imports changed
    recipient_uploads    a CSV of recipients over the API and the admin
    comparison    messages of an earlier system beside those of this service
    management    `import_from` and `compare_sent`

An import sends nothing. The same files a second time change nothing, so an import that died is
repeated. An import switches channels and topics off and never on, adds contacts and never replaces
a primary contact. An opt-out or a subscription that an import stored once is not stored again, so a
later change in this service stays, as long as the audit log has the entry of the import.
"""
