"""Sensitive values, which must not be written to logs, errors or other output.

A `Sensitive` holds a value and shows a mask in `str`, `repr`, `format` and f-strings. Comparing,
hashing, testing for truth, copying, pickling and encoding as JSON raise an error, because each
operation could disclose the value by accident. `reveal` returns the value: for validation, for
encryption, and for rendering.
"""

from __future__ import annotations

from typing import Any, Final, Generic, NoReturn, TypeVar, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

Value = TypeVar("Value")

MASK: Final = "•••"
"""The text of every sensitive value."""


class Sensitive(Generic[Value]):
    """A value that only `reveal` returns."""

    __slots__ = ("__value",)

    def __init__(self, value: Value) -> None:
        self.__value = value

    def reveal(self) -> Value:
        """Return the value."""
        return self.__value

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str, /) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        raise _refusal("compared")

    def __hash__(self) -> int:
        raise _refusal("hashed")

    def __bool__(self) -> bool:
        raise _refusal("tested for truth")

    def __copy__(self) -> NoReturn:
        raise _refusal("copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise _refusal("copied")

    def __reduce_ex__(self, protocol: object, /) -> NoReturn:
        raise _refusal("pickled")

    @classmethod
    def __get_pydantic_core_schema__(
        cls,
        source: Any,  # noqa: ANN401 - pydantic's protocol
        handler: GetCoreSchemaHandler,
    ) -> CoreSchema:
        """Validate as the type in brackets, then wrap; a model that is dumped has the mask."""
        [inner] = get_args(source)
        return core_schema.no_info_after_validator_function(
            cls,
            handler.generate_schema(inner),
            serialization=core_schema.plain_serializer_function_ser_schema(_mask),
        )


def _mask(_value: object) -> str:
    return MASK


def _refusal(use: str) -> TypeError:
    return TypeError(f"a sensitive value cannot be {use}; reveal() returns it")
