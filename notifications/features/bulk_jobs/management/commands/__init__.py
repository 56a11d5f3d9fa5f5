"""The management command `bulk_job`."""
