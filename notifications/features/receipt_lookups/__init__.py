"""Receipt lookups: read the receipts that a vendor keeps for a request (Expo).

    rows     the calls to ask about; stored with the outcomes of the calls
    sweep    asks the vendors, and applies the receipts as those of a callback

The rows have no personal data, and live for a day at most.
"""
