"""SMS vendors, one file each; `gateways` has those that are described in TOML.

The URL of receipts is sent with each message, not set in the vendor's console, if the vendor allows
a URL per message: the URL can then carry the delivery id, and a callback names the delivery even if
the answer to the request was lost.
"""
