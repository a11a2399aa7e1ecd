"""A process that moves a ledger, to be killed.

    python -m tests.fakes.moving FOLDER LIBRARY OLD_URL NEW_URL

Small batches make it write often.
"""

import sys
from contextlib import closing
from pathlib import Path

from storage.ledger import ledger_copy
from storage.ledger.ledger_move import LedgerMove


def main(folder, library, old_url, new_url):
    ledger_copy._BATCH_ROWS = 20
    with closing(LedgerMove(Path(folder), library, old_url, new_url)) as move:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if not move.is_complete():
            move.prepare()
            move.copy(_ignore)
            move.copy(_ignore)
            move.finish(_ignore)


def _ignore(_progress):
    pass


if __name__ == "__main__":
    main(*sys.argv[1:])
