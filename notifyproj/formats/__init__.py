"""Formats of dates and times in the admin; Django expects a package for each language here."""
