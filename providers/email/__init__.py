"""E-mail vendors, one file each, and `mime` for vendors that take whole messages."""
