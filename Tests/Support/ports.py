"""The port of the remote that a mirror's state has recorded.

The servers of tests have other ports than the ones before them, and what stands between has one of its own.
"""

import os
import sqlite3


def forget_ports(folder):
    """Lets every mirror beneath a folder take the next run's port, as one that was recorded without a port does."""
    for place, _, names in os.walk(folder):
        if "manifest.db" not in names:
            continue
        try:
            with sqlite3.connect(os.path.join(place, "manifest.db"), timeout=10) as manifest:
                manifest.execute("DELETE FROM setting WHERE name = 'remote.endpoint-port'")
            manifest.close()
        except sqlite3.Error:
            # A case has damaged it.
            continue
