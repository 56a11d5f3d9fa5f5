"""One command a file; `manage.py help` lists them."""
