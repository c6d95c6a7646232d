"""`python -m reground_turn`."""

from reground_turn.worker import main

main()
