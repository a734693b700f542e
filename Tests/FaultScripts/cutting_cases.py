"""Row F240: mirrors that are cut where an inventory of the bucket says, or joined again."""

import gzip
import os
import subprocess
import urllib.parse

from case_table import case, equal, expect
from scenes import NEW, OTHER
from shards import cut_mirror, done, ended, says, task
from stage import BUCKET

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def lines_of(place):
    """What docs/scale.md has for a shell, for this place: every 100th object of its prefix."""
    with open(os.path.join(ROOT, "docs", "scale.md"), encoding="utf-8") as file:
        block = file.read().split("gzip -dc ", 1)[1].split("osssync", 1)[0]
    return ("gzip -dc " + block).replace("media/photos/", place.prefix + "/").replace(
        "NR % 1000000", "NR % 100")


@case("F240", "a mirror is cut where the lines of docs/scale.md cut an inventory")
def _(place):
    place.put("a/1", NEW)
    place.put("z/1", OTHER)
    folder = os.path.join(place.folder, "inventory", "data")
    os.makedirs(folder)
    keys = [f"{letter}/ü {number:03}" for letter in "hbdafcge" for number in range(50)]
    names = [f"{place.prefix}/{key}" for key in keys] + ["elsewhere/x"]
    for number in range(3):
        rows = "".join(f'"{BUCKET}","{urllib.parse.quote_plus(name, safe="/")}","5","e"\n'
                       for name in names[number::3])
        with open(os.path.join(folder, f"part {number}.csv.gz"), "wb") as file:
            file.write(gzip.compress(rows.encode()))
    subprocess.run(["bash", "-euo", "pipefail", "-c", lines_of(place)],
                   cwd=os.path.dirname(folder), check=True)
    cuts = os.path.join(os.path.dirname(folder), "cuts")
    dry = place.run("shard", "--cuts", cuts, "--dry-run")
    equal((dry.status, len(dry.all("cut"))), (0, 5), f"the table: {dry}")
    expect(not os.path.exists(place.path(".osssync/cuts")), "a dry run has cut the mirror")
    result = place.run("shard", "--cuts", cuts)
    equal(result.status, 0, f"the cutting: {result}")
    with open(cuts, encoding="utf-8") as file:
        firsts = [urllib.parse.unquote(line) for line in file.read().splitlines()]
    equal(firsts, sorted(keys)[99::100], "the cuts")
    done(place, "0/2", "one")
    done(place, "1/2", "one")
    ended(place, "one", 0)
    equal(place.tree(), {"a/1": NEW, "z/1": OTHER}, "the tree")


@case("F240", "a cut mirror that is joined is as one that was never cut")
def _(place):
    tree = cut_mirror(place)
    place.put("0/f0", NEW)
    place.delete("3/f1")
    done(place, "0/1", "one")
    ended(place, "one", 1)
    del tree["3/f1"]
    tree["0/f0"] = NEW
    refused = place.start("verify", place.directory, "--json")
    says(refused, 2, "'osssync shard --count 1' joins the shards")
    dry = place.run("shard", "--count", "1", "--dry-run")
    equal((dry.status, os.path.exists(place.path(".osssync/cuts"))), (0, True), f"dry: {dry}")
    place.server.forget_requests()
    place.in_step(place.run("shard", "--count", "1"))
    equal(place.requests("GetObject"), [], "what was fetched")
    for name in ("cuts", "parted"):
        expect(not os.path.exists(place.path(f".osssync/{name}")), f"{name} is left")
    equal(os.listdir(place.path(".osssync/shards")), [], "the shards that are left")
    for _ in range(2):
        quiet = place.in_step(place.pull("--delete"))
        equal((quiet.count("transferred"), quiet.count("deleted"), quiet.all("warning")),
              (0, 0, []), f"a pull: {quiet}")
    equal(place.start("verify", place.directory).status, 0, "verify")
    equal(place.start("status", place.directory).status, 0, "status")
    equal(place.start("log", place.directory).status, 0, "log")
    equal(place.start("explain", place.directory, "0/f0").status, 0, "explain")
    place.put("1/f0", OTHER)
    place.put("2/f0", OTHER)
    one = place.start("pull", place.directory, "1", "--json")
    equal((one.status, one.count("transferred")), (0, 1), f"a pull of one directory: {one}")
    last = place.in_step(place.pull())
    equal(last.count("transferred"), 1, f"a pull of the rest: {last}")
    place.delete("2/f1")
    last = place.in_step(place.pull("--delete"))
    equal((last.count("transferred"), last.count("deleted")), (0, 1), f"the last pull: {last}")
    says(task(place, "0/1", "two"), 2, "is not sharded")
    place.in_step(place.run("shard", "--count", "1"))
    equal(len(place.run("shard", "--count", "3").all("cut")), 3, "the mirror cut again")
    done(place, "0/1", "two")
    ended(place, "two", 0)
