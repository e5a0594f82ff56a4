"""Answers a running program until it ends."""

from __future__ import annotations

from collections.abc import Callable

from .errors import Error
from .process import Child, Heard
from .protocol import Answers, Functions

# How long a loss may take longer than its round: it cannot be killed, and the device declines
# rounds meanwhile.
_GRACE = "10000h"


def talk(functions: Functions, *command: str, heard: Heard,
         began: Callable[[Child], None] = lambda child: None,
         strict: bool = False, answered: Callable[[], None] = lambda: None) -> None:
    """Starts a command with --stdio --json, and computes the losses that it asks for.

    What a function raises costs a device its round; with strict it ends the command. After each
    answer answered is called.
    """
    answers = Answers(functions, strict)
    try:
        with Child(*command, "--stdio", "--json", f"--grace={_GRACE}", heard=heard,
                   requests=True) as child:
            began(child)
            for request in child.requests():
                child.answer(answers.answer(request))
                answered()
            try:
                child.check()
            except Error as error:
                raise answers.blamed(error) from answers.fault
    finally:
        answers.close()
