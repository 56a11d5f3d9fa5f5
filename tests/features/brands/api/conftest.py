"""A caller of the API, as in `tests/api`."""

from tests.api.conftest import _fresh_state, caller, make_caller, maria

__all__ = ["_fresh_state", "caller", "make_caller", "maria"]
