"""What is written from something else says what that says."""

from __future__ import annotations

import ast

from tests.clients.python import sync_files, types_file


class _WithoutDocstrings(ast.NodeTransformer):
    """The words of the document may change; a shape may not."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def _shape(source: str) -> str:
    return ast.unparse(_WithoutDocstrings().visit(ast.parse(source)))


def test_the_types_are_those_of_the_document() -> None:
    hint = "run: python -m tests.clients.python.types_file"
    made = types_file.sources()
    assert {path.name for path in types_file.FOLDER.glob("*.py")} == made.keys(), hint
    for name, source in made.items():
        assert _shape((types_file.FOLDER / name).read_text()) == _shape(source), hint


def test_the_sync_client_is_written_from_the_async_one() -> None:
    hint = "run: python -m tests.clients.python.sync_files"
    made = sync_files.sources()
    folder = sync_files.PACKAGE / "_sync"
    assert {path.name for path in folder.glob("*.py")} == made.keys(), hint
    for name, source in made.items():
        assert (folder / name).read_text() == source, hint
