"""All points of one scenario that fall to one worker."""

import random
import time

import report
from Support.processes import limited
from trial import ERRORS, Trial
from workplace import Violation

# A run ends when this many numbers in a row were larger than its count of calls, which differs from
# run to run because its threads race.
MISSES = 2
# How many power cuts at each kill point at least, and errors of each kind in a scenario, for CI;
# with more effort, one error in how many calls.
CUTS = 1
ERRORS_OF_A_KIND = 2
CALLS_PER_ERROR = 9
CALLS_PER_TORN = 5
# How many points of each scenario are taken at a time where there is time without end, and how
# many power cuts at each.
SAMPLED_POINTS = 6
SAMPLED_CUTS = 2


class Round:
    def __init__(self, scenario, programs, shim, options, share, shares):
        self.scenario, self.options = scenario, options
        self.programs, self.shim = programs, shim
        self.share, self.shares = share, shares
        self.result = report.Result(scenario.name)

    def perform(self):
        def set_up():
            self.trial = (self.scenario.trial or Trial)(self.scenario, self.programs, self.shim)

        if self.is_over:
            return self.result
        self.result.count("plain")
        if not self.attempt("plain", "without a fault", set_up):
            return self.result
        try:
            self.points()
            self.attempt("plain", "in the end", self.trial.snapshot.check_held)
            self.result.waste = self.trial.worst_waste
            self.result.baseline = self.trial.baseline
            self.result.names = self.trial.names
        finally:
            self.trial.close()
        return self.result

    def points(self):
        options = self.options
        if options.kill:
            self.kill(options.kill, cuts=0)
        elif options.torn:
            self.torn(options.torn)
        elif options.power:
            number, seed = options.power.split(":", 1)
            self.kill(int(number), cuts=0, seeds=[seed])
        elif options.errno:
            error, number, *words = options.errno.split(":")
            self.error(error, int(number), "lasting" in words)
        elif options.seconds is not None:
            self.sample()
        else:
            self.all_kills()
            self.all_torn()
            self.all_errors()

    def sample(self):
        """Some points of every kind, until the time is over."""
        choice = random.Random(f"{self.options.seed}{self.scenario.name}{self.share}")
        calls = range(1, sum(self.trial.counts.values()) + 1)
        for number in choice.sample(calls, min(SAMPLED_POINTS, len(calls))):
            self.kill(number, SAMPLED_CUTS if self.scenario.has_power_cuts else 0)
            self.torn(choice.choice(calls))
            error = choice.choice(list(ERRORS))
            self.error(error, choice.randint(1, max(1, self.trial.calls(error))),
                       choice.choice(ERRORS[error][1]))
            if self.is_over:
                return

    @property
    def is_over(self):
        return self.options.seconds is not None and time.monotonic() >= self.options.end

    def numbers(self, step=1, first=0):
        """The numbers of this worker's calls, until the caller says that there are no more."""
        number = first + 1 + self.share * step
        while True:
            yield number
            number += step * self.shares

    def until_missed(self, numbers, point):
        missed = 0
        for number in numbers:
            missed = 0 if point(number) else missed + 1
            if missed == MISSES:
                return

    # Kinds of faults

    def all_kills(self):
        kinds = self.options.kinds.split(",")
        has_cuts = "power" in kinds and self.scenario.has_power_cuts
        cuts = CUTS * self.options.effort if has_cuts else 0
        if "kill" in kinds or cuts:
            step = self.options.every
            first = random.Random(f"{self.options.seed}{self.scenario.name}").randrange(step)
            self.until_missed(self.numbers(step, first), lambda number: self.kill(number, cuts))

    def all_torn(self):
        if "torn" not in self.options.kinds.split(","):
            return
        step = max(1, CALLS_PER_TORN // self.options.effort)
        self.until_missed(self.numbers(step), self.torn)

    def all_errors(self):
        if "errno" not in self.options.kinds.split(","):
            return
        step = max(1, CALLS_PER_ERROR // self.options.effort)
        for error, (_, kinds, _) in ERRORS.items():
            for lasts in kinds:
                first = random.Random(f"{self.options.seed}{self.scenario.name}{error}{lasts}")
                if self.options.effort == 1:
                    self.some_errors(error, lasts, first)
                    continue
                numbers = self.numbers(step, first.randrange(step))
                self.until_missed(numbers, lambda number, error=error, lasts=lasts:
                                  self.error(error, number, lasts))

    def some_errors(self, error, lasts, choice):
        """A few calls, each out of its part of the run."""
        calls = self.trial.calls(error)
        for part in range(ERRORS_OF_A_KIND):
            number = calls * part // ERRORS_OF_A_KIND + choice.randrange(
                max(1, calls // ERRORS_OF_A_KIND)) + 1
            if part % self.shares == self.share:
                self.error(error, number, lasts)

    # Points

    def kill(self, number, cuts, seeds=None):
        trial = self.trial
        turn = number // (self.shares * self.options.every)
        # Some states are like others, so that every sixth point has one more.
        more = cuts and turn % 6 == 0
        seeds = seeds or [f"{self.options.seed}.{index}" for index in range(cuts + more)]
        # A run with nothing to do costs as much as any other. What it would do follows from what is
        # compared before it, so that one of the two ends of a point is enough.
        is_even = turn % 2 == 0
        found = []

        def point():
            found.append(trial.kill(number, records=bool(seeds)))
            if not found[0]:
                return
            if seeds:
                found[0].replay(trial.place.record_path)
                trial.keep_inodes(found[0])
                if self.scenario.changes_bucket:
                    trial.snapshot.save_bucket(trial.place.path("killed-bucket"))
            trial.check_repaired(trial.scenario.waste, ends_quiet=not seeds or is_even)

        holds = self.attempt("kill", f"--kill {number}", point)
        if not found or not found[0]:
            return bool(found) is False
        self.result.count("kill")
        # What a kill breaks, a power cut breaks, too.
        for seed in seeds if holds else []:
            def cut(seed=seed):
                self.result.states.add(
                    trial.power(found[0], f"{self.scenario.name}:{number}:{seed}",
                                ends_quiet=not is_even))
            self.attempt("power", f"--power {number}:{seed}", cut)
            self.result.count("power")
        return True

    def torn(self, number):
        def point():
            fired = self.trial.kill(number, is_torn=True)
            if fired:
                self.trial.check_repaired(self.trial.scenario.waste)
            return fired
        return self.counted("torn", f"--torn {number}", point)

    def error(self, error, number, lasts):
        name = f"--errno {error}:{number}" + ":lasting" * lasts
        return self.counted("errno", name, lambda: self.trial.fail(number, error, lasts))

    def counted(self, kind, name, point):
        fired = []
        holds = self.attempt(kind, name, lambda: fired.append(point()))
        if holds and not fired[0]:
            return False
        self.result.count(kind)
        return True

    def attempt(self, kind, name, point):
        began = time.monotonic()
        try:
            with limited(f"{self.scenario.name}, {kind}, {name}"):
                point()
            return True
        except Violation as violation:
            self.result.violate(kind, name, violation)
            return False
        finally:
            self.result.spend(kind, time.monotonic() - began)
