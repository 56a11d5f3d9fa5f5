"""SMS vendors, one file each, and what they share: where they post their receipts."""
