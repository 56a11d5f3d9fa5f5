"""English, the admin's only language."""
