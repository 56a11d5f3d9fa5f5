"""E-mail vendors, and `mime` for vendors with raw messages."""
