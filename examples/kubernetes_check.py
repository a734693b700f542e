"""Checks the manifests of examples/kubernetes without a cluster.

usage: kubernetes_check.py   Needs kubernetes-validate (PyPI), and osssync on the path.

The schemas of the package know fields and their types. They do not know what osssync's exit
statuses mean, which options it has, or which fields must agree: the other checks do."""

import pathlib
import re
import shlex
import subprocess
import sys

import kubernetes_validate
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "Tests"))

from Support.checks import Tally, equal, expect  # noqa: E402

OLDEST = "1.31"
INDEX = "$(JOB_COMPLETION_INDEX)"
SECRET = re.compile(r"KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL")
OPTION = re.compile(r"^ {2,6}(?:(-\w), )?(--[a-z-]+)(\[=[\w|]+\]| \S+)?(?:  |$)", re.MULTILINE)


def osssync_help(topic):
    return subprocess.run(["osssync", "help", topic], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=60).stdout


def in_schema(manifest, version):
    # An older schema is the package's answer to a version it does not have.
    equal(kubernetes_validate.validate(manifest, version, strict=True), version, "schema")


def pod(job):
    return job["spec"]["template"]["spec"]


def container(job):
    containers = pod(job)["containers"] + pod(job).get("initContainers", [])
    equal(len(containers), 1, "containers")
    return containers[0]


def words(job):
    """The words of the one osssync command, with variables replaced by their values."""
    found = container(job)
    command = found["command"] + found.get("args", [])
    variable = r"\$\((\w+)\)"
    if command[:2] == ["sh", "-c"]:
        variable += r"|\$\{(\w+)\}|\$(\w+)"
        lines = [line for line in command[2].splitlines() if line.lstrip().startswith("osssync ")]
        equal(len(lines), 1, "lines that start osssync")
        command = [word for word in shlex.split(lines[0]) if word != "&"]
    equal(command[0], "osssync", "program")
    values = {entry["name"]: entry.get("value") for entry in found.get("env", [])}
    values["JOB_COMPLETION_INDEX"] = INDEX
    return [re.sub(variable, lambda match: values.get(match[match.lastindex]) or match[0], word)
            for word in command]


def parsed(job):
    """The options with their values, and the other arguments, by the help of the command."""
    name, *rest = words(job)[1:]
    known = {}
    for short, long, value in OPTION.findall(osssync_help(name)):
        known[long] = known[short or long] = value
    options = {}
    while rest and rest[0].startswith("-") and rest[0] != "--":
        option, equals, value = rest.pop(0).partition("=")
        expect(option in known, f"'osssync help {name}' has no {option}")
        if known[option].startswith(" ") and not equals:
            expect(rest, f"{option} has no value")
            value = rest.pop(0)
        expect(known[option] or not equals, f"{option} has a value: {value}")
        choices = known[option].strip()
        if "|" in choices and choices[0].islower():
            allowed = "|".join(re.sub(r"\[=\w+\]", "(=.+)?", choice)
                               for choice in choices.split("|"))
            expect(re.fullmatch(allowed, value), f"{option} {value}: not one of {choices}")
        options[option] = value
    return options, rest[1:] if rest[:1] == ["--"] else rest


def arguments(job, command):
    equal(words(job)[1], command, "command")
    mounts = [mount["mountPath"] for mount in container(job)["volumeMounts"]]
    equal(parsed(job)[1], mounts, "arguments that are no options")


def statuses():
    """The last column of the table in docs/scale.md, by exit status."""
    rows = re.findall(r"^\| ([\d, ]+) \|.*\| ([^|]+) \|$", (ROOT / "docs/scale.md").read_text(),
                      re.MULTILINE)
    return {int(status): action for row, action in rows for status in row.split(",")}


def table():
    known = re.findall(r"^  (\d+) ", osssync_help("exit-codes"), re.MULTILINE)
    equal(sorted(statuses()), sorted(map(int, known)), "exit statuses of docs/scale.md")
    equal([status for status, action in statuses().items() if action.startswith("ignore")],
          [130, 143], "exit statuses that a drained node excuses")


def failure_policy(job, indexed):
    def rule(action, *actions):
        values = sorted(status for status, found in statuses().items() if found in actions)
        return {"action": action, "onExitCodes": {
            "containerName": container(job)["name"], "operator": "In", "values": values}}

    drained = {"action": "Ignore",
               "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    rules = [drained, rule("FailJob", "FailJob"), rule("FailIndex", "FailIndex")]
    if not indexed:
        # Without indexes all of these end the job, and so does 1: a person must decide.
        last = rule("FailJob", "FailJob", "FailIndex")
        last["onExitCodes"]["values"].insert(0, 1)
        rules = [drained, last]
    equal(job["spec"]["podFailurePolicy"]["rules"], rules, "podFailurePolicy")


def indexes(job):
    spec = job["spec"]
    equal(spec.get("completionMode"), "Indexed", "completionMode")
    expect("backoffLimitPerIndex" in spec, "there is no backoffLimitPerIndex")
    # The API server refuses more; no schema does.
    expect(spec["maxFailedIndexes"] <= spec["completions"], "maxFailedIndexes is over completions")


def shard(job):
    equal(parsed(job)[0].get("--shard"), f"{INDEX}/{job['spec']['completions']}", "--shard")


def replacement(job):
    equal(job["spec"].get("podReplacementPolicy"), "Failed", "podReplacementPolicy")
    equal(pod(job).get("restartPolicy"), "Never", "restartPolicy")


def credentials(job):
    found = container(job)
    sources = found.get("envFrom", [])
    equal([set(source) - {"prefix"} for source in sources], [{"secretRef"}], "envFrom")
    for entry in found.get("env", []):
        if SECRET.search(entry["name"]):
            equal(set(entry.get("valueFrom", {"value": ""})), {"secretKeyRef"}, entry["name"])
    for word in found["command"] + found.get("args", []):
        expect(not re.search(rf"({SECRET.pattern})\w*=", word), "the command sets a credential")


def access(claim):
    equal(claim["spec"]["accessModes"], ["ReadWriteMany"], "accessModes")


def main():
    tally = Tally(tells_all=True)
    manifests = [(path.name, manifest)
                 for path in sorted((ROOT / "examples/kubernetes").glob("*.y*ml"))
                 for manifest in yaml.safe_load_all(path.read_text())]
    tally.run("what is checked", equal, [(name, manifest["kind"]) for name, manifest in manifests],
              [("claim.yaml", "PersistentVolumeClaim"), ("finish.yaml", "Job"),
               ("pull.yaml", "Job")])
    tally.run("docs/scale.md has every exit status", table)
    newest = ".".join(kubernetes_validate.latest_version().split(".")[:2])
    for name, manifest in manifests:
        for version in dict.fromkeys([OLDEST, newest]):
            tally.run(f"{name}: the schema of {version}", in_schema, manifest, version)
        if manifest["kind"] == "PersistentVolumeClaim":
            tally.run(f"{name}: many nodes can write", access, manifest)
        if manifest["kind"] != "Job":
            continue
        indexed = name == "pull.yaml"
        tally.run(f"{name}: podFailurePolicy is the table", failure_policy, manifest, indexed)
        tally.run(f"{name}: one pod at a time", replacement, manifest)
        tally.run(f"{name}: credentials are in a secret", credentials, manifest)
        tally.run(f"{name}: the command is in the help", arguments, manifest,
                  name.removesuffix(".yaml"))
        if indexed:
            tally.run(f"{name}: indexes", indexes, manifest)
            tally.run(f"{name}: an index for each task", shard, manifest)
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
