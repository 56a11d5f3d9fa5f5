"""The archive: days past retention as Parquet files in a folder or an S3 bucket.

    partitions of a day            files of a day                        database
    notification ---- export ----> notification-1f3a.parquet  <-+
    delivery                       delivery-1f3a.parquet        | verify   archive_file
    attempt                        attempt-1f3a.parquet         |
    event                          event-1f3a.parquet         --+
         |                         key-1f3a.parquet (idempotency keys)
         `-- freeze, compare, drop

`days` does the steps of a day under a lease. Each step is safe to repeat and leaves a row, so a
killed process loses at most the running step. `columns` has the columns of the files, `targets` the
folder or the bucket, `keys` the keys of the recipients, `local_folders` the temporary folders;
`management` has `manage.py archive`.

1. An open delivery keeps its day in the database (see `days`).
2. `export` writes one file for each table, through a temporary name. The row of the file has the
   number and the fingerprint of the rows in the database, from the snapshot that was exported.
3. `verify` reads the file back from the folder or bucket: SHA-256, number of rows, checksum of
   each column, and decryption of each row's personal values.
4. The partitions are detached, so no row can change. PostgreSQL compares the fingerprint again
   inside `drop_partition` and drops only equal rows; rows that changed since the export (a late
   receipt, an erasure) are exported again, from the detached partition.

Nothing is dropped while the folder or bucket is away: the day stays, and the alert `archive_late`
says why.

Notifications are sorted by recipient, the other tables by id. Row groups carry minimum and maximum,
so `find` reads a few row groups of a file. The personal values of a notification (user id, content,
variables, metadata, keys of the producer, webhook URL, details) are one encrypted value under the
recipient's key; erasure of the recipient deletes the key. Sensitive variables are never exported.
"""
