"""Measures osssync beside other tools, as whole processes, in one run and in turn.

usage: main.py PROGRAMS FOLDER-OF-THE-VIRTUAL-ENVIRONMENT [--workloads W1,W2] [--runs N] [--scale X]
       [--remotes oss,s3,oss+tls,s3+tls,seaweedfs] [--tools osssync,rclone] [--output NAME]
"""

import argparse
import json
import os
import sys
import tempfile

import measure
import report
from remotes import Remotes
from tools import TOOLS
from workloads import Workloads


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs")
    parser.add_argument("environment")
    parser.add_argument("--workloads", help="W1,W2,…: all of them unless given")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="of counts and large sizes")
    parser.add_argument("--remotes", default="oss,s3,oss+tls,s3+tls")
    parser.add_argument("--tools", help="all of them unless given")
    parser.add_argument("--output", help="NAME.json and NAME.md get the figures")
    return parser.parse_args()


class Bench:
    """The folder of one measurement, and what all workloads share."""

    def __init__(self, chosen, folder):
        self.folder, self.runs, self.scale = folder, chosen.runs, chosen.scale
        self.programs = os.path.abspath(chosen.programs)
        self.environment = os.path.abspath(chosen.environment)
        self.log = os.path.join(folder, "log")
        self.tools = (set(chosen.tools.split(",")) if chosen.tools
                      else {tool.name for tool in TOOLS})
        self.remotes = Remotes(self.programs, self.environment, folder,
                               set(chosen.remotes.split(",")))

    @staticmethod
    def say(text):
        print(text, flush=True)

    def run(self, words, environment):
        return measure.run(words, environment, self.log)


def main():
    chosen = options()
    measure.allow_descriptors()
    with tempfile.TemporaryDirectory(prefix="osssync-bench-") as folder:
        bench = Bench(chosen, folder)
        failures = 0
        try:
            workloads = Workloads(bench)
            table = workloads.table()
            wanted = chosen.workloads.split(",") if chosen.workloads else list(table)
            for name in wanted:
                bench.say(f"{name}: {table[name][0]}")
                try:
                    table[name][1]()
                except measure.Failure as failure:
                    failures += 1
                    bench.say(f"FAILED {name}: {failure}")
            rows = workloads.rows()
            text = report.markdown(rows, {name: row[0] for name, row in table.items()},
                                   chosen.runs)
            print(text)
            if chosen.output:
                with open(chosen.output + ".json", "w") as file:
                    json.dump({"machine": report.machine(), "rows": rows}, file, indent=1)
                with open(chosen.output + ".md", "w") as file:
                    file.write(text)
        finally:
            bench.remotes.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
