"""The texts that are sent are those that the composed statements make."""

from tools.compile_statements import COMPILED, compiled_files


def test_the_package_holds_the_text_of_every_composed_statement_and_no_other() -> None:
    """`make statements` writes them."""
    held = {file.name: file.read_text(encoding="utf-8") for file in COMPILED.iterdir()}

    assert held == compiled_files()
