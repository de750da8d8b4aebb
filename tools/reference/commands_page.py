"""The page of commands, from the parsers themselves."""

from argparse import SUPPRESS, Action, ArgumentParser, _HelpAction, _SubParsersAction
from collections.abc import Iterator

from tools.reference.wording import code, page, table

from orchestrator_sandbox import cli as sandbox
from orchestrator_service import cli as service

_HEAD = """\
`orchestrator` is the product; `orchestrator-sandbox` is what it is tried out with on one machine, and no production
image holds it. Commands end with 0 if all went well, 1 if they failed or found something, 2 if they could not begin
(settings, usage, a file that can't be read) or could not write what they were asked for (`OUTPUT_UNWRITABLE`: standard
output), and 3 if no database answered; each tells below what it means by 1. Every command takes `--help`."""


def commands_page() -> str:
    """Return the page with every command of both programs."""
    parts = [part for program in (service, sandbox) for part in _program(program.command_parser())]
    return page("Commands", _HEAD, *parts)


def _program(parser: ArgumentParser) -> Iterator[str]:
    yield f"## {parser.prog}\n\n{parser.description}"
    for command, told, action in _leaves(parser, "", ""):
        yield _command(command, told, action)


def _leaves(parser: ArgumentParser, told: str, of_all: str) -> Iterator[tuple[str, str, ArgumentParser]]:
    """Give each command that does something, with what its group says of all of them."""
    groups = [action for action in parser._actions if isinstance(action, _SubParsersAction)]  # noqa: SLF001
    if not groups:
        yield parser.prog, f"{told} {of_all}".strip(), parser
        return
    helps = {choice.dest: choice.help or "" for choice in groups[0]._choices_actions}  # noqa: SLF001
    for name, below in groups[0].choices.items():
        yield from _leaves(below, _sentence(helps.get(name, "")), _own_words(parser) or of_all)


def _own_words(parser: ArgumentParser) -> str:
    return (parser.description or "") if " " in parser.prog else ""


def _command(command: str, told: str, parser: ArgumentParser) -> str:
    actions = [
        action
        for action in parser._actions  # noqa: SLF001 -- the parser offers no other way to look at them
        if not isinstance(action, _HelpAction) and action.help is not SUPPRESS
    ]
    rows = [(code(_written(action)), "yes" if action.required else "", _said(action)) for action in actions]
    return f"### {command}\n\n{told}" + ("\n\n" + table(("argument", "needed", ""), rows) if rows else "")


def _written(action: Action) -> str:
    metavar = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    shown = metavar[0] if isinstance(metavar, tuple) else metavar
    value = f"{shown} …" if action.nargs == "+" else shown
    if not action.option_strings:
        return f"[{value}]" if action.nargs == "?" else value
    return f"{', '.join(action.option_strings)} {value if action.nargs != 0 else ''}".strip()


def _said(action: Action) -> str:
    told = action.help or ""
    if told == f"{action.default} unless given":
        told = f"`{action.default}` unless given"
    choices = [str(choice) for choice in action.choices or ()]
    # Where `--help` shows a word in their place, the words about it name them.
    named = all(choice in told.replace(",", " ").replace(";", " ").split() for choice in choices)
    offered = "" if named else "one of " + ", ".join(map(code, choices))
    return _sentence("; ".join(part for part in (told, offered) if part))


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""
