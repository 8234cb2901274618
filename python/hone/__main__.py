"""`python -m hone ARGUMENTS` is `hone ARGUMENTS`."""

from ._main import main

main()
