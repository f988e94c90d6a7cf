"""What the container of the action runs."""

from membench.github.entry import main

main()
