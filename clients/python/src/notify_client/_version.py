"""The version of the package, which `pyproject.toml` and the User-Agent read."""

__version__ = "1.0.0"
