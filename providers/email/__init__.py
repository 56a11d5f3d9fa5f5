"""E-mail vendors, one file each, and `mime` for those that take whole messages."""
