"""Processes that a test starts, each with one owner of its pipes, and the time a case may take."""

import contextlib
import os
import subprocess
import sys
import threading
import time
import traceback

# A case takes a tenth of it at most, on a machine that does nothing else.
CASE_LIMIT = 600
# After so long it is said what a case waits for, and again.
NOTICE = 120
# A run of a few seconds, on a machine that does much else.
PATIENCE = 240
# What is killed ends at once; whoever still waits after it waits for something else.
GRACE = 60
# The case of each thread that has one.
CURRENT = threading.local()


class Started:
    """A process. Only the threads that begin here read its pipes, to their ends, and close them.

    All others may send it signals, wait for it and ask for what it said, from any thread. Two that
    read one pipe would fail differently: the one that comes late would read and close a descriptor
    that belongs to the next process by then.
    """

    def __init__(self, words, environment=None, folder=None, stdin=subprocess.DEVNULL,
                 stderr=subprocess.PIPE, **options):
        self.words = list(words)
        self.process = subprocess.Popen(self.words, env=environment, cwd=folder, stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=stderr, bufsize=0,
                                        **options)
        self.output, self.errors = bytearray(), bytearray()
        self.taken = 0
        self.changed = threading.Condition()
        self.readers = [threading.Thread(target=self.read, args=(pipe, text), daemon=True)
                        for pipe, text in ((self.process.stdout, self.output),
                                           (self.process.stderr, self.errors)) if pipe]
        for reader in self.readers:
            reader.start()
        case = getattr(CURRENT, "case", None)
        if case is not None:
            case.started.append(self)

    def __str__(self):
        return f"'{' '.join(map(os.fsdecode, self.words))}' (process {self.process.pid})"

    def read(self, pipe, text):
        with pipe:
            while piece := pipe.read(1 << 16):
                with self.changed:
                    text += piece
                    self.changed.notify_all()
        with self.changed:
            self.changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    @property
    def status(self):
        """None while it runs."""
        return self.process.poll()

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()

    def line(self, limit=PATIENCE):
        """The next line of its output, as bytes; none at the end."""
        end = time.monotonic() + limit
        with self.changed:
            while (feed := self.output.find(b"\n", self.taken)) < 0:
                if not self.readers[0].is_alive():
                    feed = len(self.output) - 1
                    break
                if time.monotonic() > end:
                    raise AssertionError(f"{self} wrote no line in {limit} s: {self.last_words()}")
                # It also looks now and then: that a thread has ended is not notified.
                self.changed.wait(0.1)
            found = bytes(self.output[self.taken:feed + 1])
            self.taken = feed + 1
            return found

    def wait(self, limit):
        """Its output and its messages, once it ended; one that is late is killed, and fails."""
        end = time.monotonic() + limit
        for reader in self.readers:
            reader.join(max(end - time.monotonic(), 0))
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(end - time.monotonic(), 0))
        if self.status is None or any(reader.is_alive() for reader in self.readers):
            what = "it did" if self.status is None else "its pipes, which another process has, did"
            self.kill()
            raise AssertionError(f"{self}: {what} not end in {limit} s: {self.last_words()}")
        return bytes(self.output), bytes(self.errors)

    def end(self, limit=GRACE):
        """Kills it, and waits for that."""
        self.kill()
        return self.wait(limit)

    def last_words(self):
        return (self.errors or self.output).decode("utf-8", "replace")[-500:]


class LimitedCase:
    """A case under way, what it started, and what is said of it if it takes too long."""

    def __init__(self, name, seconds):
        self.name, self.seconds = name, seconds
        self.thread = threading.get_ident()
        self.started = []
        self.overdue = None
        self.began = time.monotonic()
        self.next()

    @staticmethod
    def timed(seconds, action):
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        timer.start()
        return timer

    def next(self):
        """Waits for the next moment at which something is to be said, or for the last one."""
        left = self.began + self.seconds - time.monotonic()
        is_last = left <= NOTICE
        self.timer = self.timed(left if is_last else NOTICE, self.stop if is_last else self.notice)

    def notice(self):
        print(f"SLOW {self.name}: {time.monotonic() - self.began:.0f} s until now; it waits at\n"
              f"{self.waits_at()}", file=sys.stderr, flush=True)
        self.next()

    def waits_at(self):
        """Where its thread is, in the files of the tests and in the last one of all."""
        frame = sys._current_frames().get(self.thread)
        stack = traceback.extract_stack(frame)
        own = [each for each in stack if "/Tests/" in each.filename or each is stack[-1]]
        return "".join(traceback.format_list(own))

    def stop(self):
        live = [each for each in self.started if each.status is None]
        names = "".join(f"\n  {each}: {each.last_words()}" for each in live)
        self.overdue = (f"{self.name}: did not end in {self.seconds} s. It waits at\n"
                        f"{self.waits_at()}These run, and are killed:{names or ' none'}")
        print(f"OVERDUE {self.overdue}", file=sys.stderr, flush=True)
        for each in live:
            each.kill()
        self.timer = self.timed(GRACE, self.give_up)

    def give_up(self):
        print(f"OVERDUE {self.name}: it still waits, {GRACE} s after all that it started was "
              f"killed, at\n{self.waits_at()}The driver ends here.", file=sys.stderr, flush=True)
        os._exit(3)


@contextlib.contextmanager
def limited(name, seconds=CASE_LIMIT):
    """Fails what takes longer, says what it waited for, and kills what it started."""
    case = CURRENT.case = LimitedCase(name, seconds)
    try:
        yield
    except Exception as failure:
        # What succeeds has ended its processes, or means them to live on.
        for each in case.started:
            each.kill()
        if case.overdue:
            raise AssertionError(case.overdue) from failure
        raise
    finally:
        case.timer.cancel()
        CURRENT.case = None
    if case.overdue:
        raise AssertionError(case.overdue)
