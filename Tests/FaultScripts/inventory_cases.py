"""Row F240: mirrors that are cut by an inventory of the bucket, or joined again."""

import gzip
import hashlib
import json
import os
import urllib.parse

from case_table import case, equal, expect
from scenes import NEW, OTHER
from shards import cut_mirror, done, ended, says, task
from stage import BUCKET

SCHEMA = "Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size, ETag"


class Inventory:
    """The files of an inventory, beside its manifest or in the bucket."""

    def __init__(self, place, rows, files=3, **changes):
        self.place, self.names = place, []
        self.folder = os.path.join(place.folder, "inventory")
        os.makedirs(self.folder, exist_ok=True)
        self.manifest = {"sourceBucket": BUCKET, "destinationBucket": BUCKET, "fileFormat": "CSV",
                         "version": "2019-09-01", "fileSchema": SCHEMA, "files": []}
        for number in range(files):
            text = "".join(line + "\n" for line in rows[number::files])
            self.add(f"part {number}.csv.gz", gzip.compress(text.encode()))
        self.manifest.update(changes)
        self.path = os.path.join(self.folder, "manifest.json")
        self.write()

    def write(self):
        with open(self.path, "w") as file:
            json.dump(self.manifest, file)

    def add(self, name, content):
        self.names.append(name)
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)
        self.manifest["files"].append({
            "key": f"{self.place.prefix}-inventory/data/{name}", "size": len(content),
            "MD5checksum": hashlib.md5(content).hexdigest().upper()})

    def change(self, name, content):
        with open(os.path.join(self.folder, name), "wb") as file:
            file.write(content)

    def cut(self, *options, at=None):
        return self.place.run("shard", "--inventory", at or self.path, *options)


def row(place, key, size, version="v1", latest="true", marker="false", bucket=BUCKET):
    name = urllib.parse.quote_plus(f"{place.prefix}/{key}", safe="/")
    return f'"{bucket}","{name}","{version}","{latest}","{marker}","{size}","e"'


def rows_of(place):
    """Objects of two sizes in no order, and what is not to be counted."""
    keys = [f"{letter}/ü {number:03}" for letter in "hbdafcge" for number in range(50)]
    rows = [row(place, key, 1_000 if key < "e" else 3_000) for key in keys]
    rows += [row(place, key, 10 ** 12, "v0", "false") for key in keys[:100]]
    rows += [row(place, "gone", "", "v2", "true", "true"),
             row(place, "gone", 10 ** 12, "v1", "false")]
    return rows + [f'"{BUCKET}","elsewhere/x","","true","false","5","e"']


@case("F240", "a mirror is cut by an inventory in no order, and pulled as a listing says")
def _(place):
    place.put("a/1", NEW)
    place.put("z/1", OTHER)
    inventory = Inventory(place, rows_of(place))
    dry = inventory.cut("--count", "4", "--dry-run", "--tasks", "2")
    equal((dry.status, len(dry.all("cut")), dry.all("estimate")[0]["objects"]), (0, 4, 400),
          f"the table: {dry}")
    expect(not os.path.exists(place.path(".osssync/cuts")), "a dry run has cut the mirror")
    result = inventory.cut("--count", "4", "--tasks", "2")
    equal(result.status, 0, f"the cutting: {result}")
    shards = result.all("cut")
    equal((len(shards), sum(each["objects"] for each in shards),
           sum(each["bytes"] for each in shards)), (4, 400, 200 * 4_000), "the shards")
    expect(all(each["objects"] in range(95, 106) for each in shards), f"their sizes: {shards}")
    equal(result.all("estimate")[0]["tasks"], 2, "the estimate")
    done(place, "0/2", "one")
    done(place, "1/2", "one")
    ended(place, "one", 0)
    equal(place.tree(), {"a/1": NEW, "z/1": OTHER}, "the tree")


@case("F240", "an inventory in the bucket is read with the credentials of the run")
def _(place):
    place.put("a/1", NEW)
    inventory = Inventory(place, rows_of(place))
    own, place.prefix = place.prefix, place.prefix + "-inventory"
    with open(inventory.path, "rb") as file:
        place.put("2026/manifest.json", file.read())
    for name in inventory.names[1:]:
        with open(os.path.join(inventory.folder, name), "rb") as file:
            place.put(f"data/{name}", file.read())
    place.prefix = own
    address = f"oss://{BUCKET}/{own}-inventory/2026/manifest.json"
    says(inventory.cut(at=address), 2, "the file", "part 0.csv.gz", "is not there")
    place.prefix += "-inventory"
    with open(os.path.join(inventory.folder, inventory.names[0]), "rb") as file:
        place.put(f"data/{inventory.names[0]}", file.read())
    place.prefix = own
    result = inventory.cut("--count", "8", at=address)
    equal((result.status, len(result.all("cut"))), (0, 8), f"the cutting: {result}")
    says(inventory.cut(at=address + "s"), 2, "the manifest", "is not there")
    says(inventory.cut(at=f"s3://{BUCKET}/m.json"), 2, "not the URL of an inventory's manifest")


@case("F240", "an inventory that cannot be used is refused with the file and the line")
def _(place):
    tree = cut_mirror(place)
    with open(place.path(".osssync/cuts"), "rb") as file:
        before = file.read()
    rows = rows_of(place)
    for changes, said in (
            ({"sourceBucket": "other-bucket"}, "of the bucket 'other-bucket'"),
            ({"fileFormat": "Parquet"}, "choose CSV"), ({"fileFormat": "ORC"}, "choose CSV"),
            ({"fileSchema": SCHEMA.replace("Key", "Name")}, "without the column Key"),
            ({"fileSchema": SCHEMA.replace("Size", "Length")}, "without the column Size")):
        says(Inventory(place, rows, **changes).cut(), 2, "manifest.json", said)
    inventory = Inventory(place, rows)
    part = inventory.names[1]
    with open(os.path.join(inventory.folder, part), "rb") as file:
        content = file.read()
    for damage in (content[:-9], content + content, b"", content[:50] + b"x" + content[51:]):
        inventory.change(part, damage)
        says(inventory.cut(), 2, part, "has another MD5")
    os.remove(os.path.join(inventory.folder, part))
    says(inventory.cut(), 2, f"the file '{part}' of the inventory is missing")
    for number, bad, said in (
            (7, row(place, "x", 1, bucket="other-bucket"), "the bucket 'other-bucket'"),
            (1, "cut short", "it has 1 columns"), (400, row(place, "x", "much"), "'much' is not")):
        inventory = Inventory(place, rows[:number - 1] + [bad] + rows[number - 1:], files=1)
        says(inventory.cut(), 2, f"part 0.csv.gz', line {number}: ", said)
    short = gzip.compress(b"")[:-4]
    for content, said in ((b"plain text", "is not gzip"), (short, "in the midst")):
        inventory = Inventory(place, rows, files=1)
        inventory.add("last.csv.gz", content)
        inventory.write()
        says(inventory.cut(), 2, "last.csv.gz", said)
    says(Inventory(place, rows[-1:]).cut(), 2, "has no object below")
    says(place.run("shard", "--inventory", "/nothing.json"), 2, "the inventory cannot be read")
    says(place.run("shard", "--inventory", "x", "--cuts", inventory.path), 2, "--cuts")
    with open(place.path(".osssync/cuts"), "rb") as file:
        equal(file.read(), before, "the cuts")
    equal(place.tree(), tree, "the tree")


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
    place.delete("2/f1")
    last = place.in_step(place.pull("--delete"))
    equal((last.count("transferred"), last.count("deleted")), (1, 1), f"the last pull: {last}")
    says(task(place, "0/1", "two"), 2, "is not sharded")
    place.in_step(place.run("shard", "--count", "1"))
    equal(len(place.run("shard", "--count", "3").all("cut")), 3, "the mirror cut again")
    done(place, "0/1", "two")
    ended(place, "two", 0)
