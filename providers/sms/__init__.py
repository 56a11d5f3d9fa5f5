"""SMS vendors, one file each.

Where receipts shall go is told with each message and not once in the vendor's console, where the
vendor takes it: then the address can carry the delivery id, and a callback names its delivery even
when the answer to our request was lost.
"""
