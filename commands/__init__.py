"""The commands of `cli.py`, grouped by topic, and the processes that they start.

`console` has the shared code. Slow modules are imported within functions, so that `--help` and
mistyped commands respond immediately. Only `cli.py` and `pages_process` use this package.
"""
