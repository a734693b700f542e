"""What the drivers of FaultScripts, Security, CrashPoints and Peers have in common."""
