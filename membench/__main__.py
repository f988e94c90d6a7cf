"""`python -m membench`."""

from membench.cli import main

main()
