"""Receipt lookups: ask a vendor that keeps receipts until somebody asks (Expo).

    rows     the calls to ask about; stored with the outcomes of the calls
    sweep    asks the vendors, and applies the receipts as those of a callback

The rows have no personal data, and live for a day at most.
"""
