"""What was found, put together from the workers' shares."""

import collections

# More of the same says nothing new.
SHOWN = 4
# States of the disk that a whole run must have been through.
STATES = 2_000


class Result:
    """What one worker found in its share of one scenario."""

    def __init__(self, name, broken=None):
        self.name = name
        self.broken = broken
        self.points = collections.Counter()
        self.seconds = collections.Counter()
        self.violations = []
        self.states = set()
        self.waste = 0
        self.baseline = 0
        self.names = {}

    def count(self, kind):
        self.points[kind] += 1

    def spend(self, kind, seconds):
        self.seconds[kind] += seconds

    def violate(self, kind, point, violation):
        self.violations.append((kind, point, str(violation)))


class Tally:
    """Prints a line for each scenario once all its shares are in, and the sums at the end."""

    def __init__(self, shares, shows_names):
        self.shares, self.shows_names = shares, shows_names
        self.passed = self.failed = 0
        self.parts = collections.defaultdict(list)
        self.points, self.seconds = collections.Counter(), collections.Counter()
        self.names = collections.Counter()
        self.states = 0
        self.worst = (0, "none")

    def add(self, result):
        parts = self.parts[result.name]
        parts.append(result)
        if len(parts) == self.shares:
            self.finish(result.name, self.parts.pop(result.name))

    def finish(self, name, parts):
        points, seconds = collections.Counter(), collections.Counter()
        violations, states, broken = [], set(), []
        for part in parts:
            points += part.points
            seconds += part.seconds
            violations += part.violations
            states |= part.states
            self.names.update(part.names)
            broken += [part.broken] if part.broken else []
        waste = max(part.waste for part in parts)
        self.worst = max(self.worst, (waste, name))
        self.points += points
        self.seconds += seconds
        self.states += len(states)
        kinds = sorted(points.keys() | {kind for kind, _, _ in violations})
        bad = {kind for kind, _, _ in violations}
        self.passed += len([kind for kind in kinds if kind not in bad])
        self.failed += len(bad) + len(broken)
        if not kinds and not broken:
            # Its time was over before it began.
            return
        counts = ", ".join(f"{points[kind]} {kind}" for kind in kinds)
        print(f"{name}: {counts}; {len(states)} states, {waste} bytes again at worst, "
              f"{sum(seconds.values()):.1f} s", flush=True)
        for kind, point, text in violations[:SHOWN]:
            print(f"  FAILED {name} {kind} (Tests/CrashPoints/run --scenario {name} {point}): {text}",
                  flush=True)
        if len(violations) > SHOWN:
            print(f"  and {len(violations) - SHOWN} more: "
                  + " ".join(point for _, point, _ in violations[SHOWN:SHOWN + 40]))
        for text in broken[:1]:
            print(f"  BROKEN {name}: {text}", flush=True)

    def end(self, seconds, is_whole):
        # Of a pass that had no more time.
        for name, parts in self.parts.items():
            self.finish(name, parts)
        if self.shows_names:
            for name, count in sorted(self.names.items()):
                print(f"{count:6} {name}")
        parts = ", ".join(f"{kind} {self.points[kind]} in {self.seconds[kind]:.0f} s"
                          for kind in ("plain", "kill", "torn", "power", "errno") if self.points[kind])
        print(f"points: {parts}")
        print(f"{len(self.names)} named crash points, {self.states} distinct states of the disk, "
              f"at worst {self.worst[0]} bytes moved again ({self.worst[1]}), {seconds:.0f} s")
        if is_whole and self.states < STATES:
            print(f"FAILED fewer than {STATES} distinct states of the disk")
            self.failed += 1
        print(f"{self.passed} passed, {self.failed} failed")


def is_replay(options):
    return bool(options.kill or options.torn or options.power or options.errno)
