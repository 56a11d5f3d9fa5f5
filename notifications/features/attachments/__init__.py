"""Attachments: files that producers upload once and send with any number of e-mails.

    rules      the permitted types, and how a content shows its type
    limits     the largest size of the attachments of an e-mail
    models     the files, with their contents
    rows       store, keep, link and read files
    of_templates  store, copy and keep the files of templates
    fetch      get a file from a URL
    invitations   write the calendar file of a meeting

A content is stored once for a producer, a mode and a type, by its SHA-256 digest, and only in
Postgres. Each accepted notification moves the deletion of its files, so no row counts the uses: a
file is deleted a day after an upload without a use, and a day after the retention of notifications
after the last use.

A file of up to ten recipients is deleted with the last of the recipients, who may be two user ids
of one merged person. A file of more recipients, such as terms and conditions, belongs to no
recipient.

A file of templates is a row without a producer and without recipients. No erasure deletes the row,
and the sweep moves its deletion for as long as a version of a template names the file.
"""
