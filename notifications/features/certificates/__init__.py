"""Certificates: those that the settings name are named before they end.

    ends      reads the certificates: files of the URLs, and the server of NOTIFY_PUBLIC_URL
    checks    says it in `manage.py check --deploy` and in the log of each start
    sweep     raises an alert 14 days before the end, and another after it

A certificate in a CA file can have a successor in the same file, so the last end of the file
counts. Of another file the first certificate counts, which is that of the client or the server.
"""
