"""The inbox of each recipient: the only writer of the inbox tables.

    writes     add, mark, withdraw, erase
    reads      page, counts, items, changes since a version, versions; the form in the cache
    reports    seen and read items whose deliveries do not have the new status yet
    settling   expired items, snoozes that are over; deletion of old items
    groups     items with a collapse key, after a removal
    heads      lock, version and counts of an inbox
    cache      page 1 and counts in the state Redis; publishing of versions
    items      the values that these modules take and return
    json_of    the JSON of items and counts

A write is one transaction: the write locks the heads in the order of recipients, changes items,
adds one to the version of changed heads, and gives the version to the changed items. So the
versions of a recipient have no gaps, and every write is safe to run twice.
"""
