"""What osssync is started with, and what it says."""

import json
import os
import shutil
import subprocess


def account(scheme, key, secret, region, endpoint):
    """The variables that tell osssync of an account with a service."""
    if scheme == "oss":
        return {"OSS_ACCESS_KEY_ID": key, "OSS_ACCESS_KEY_SECRET": secret, "OSS_REGION": region,
                "OSS_ENDPOINT": endpoint}
    return {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_REGION": region,
            "AWS_ENDPOINT_URL": endpoint}


def last(events, name):
    """The last event of a name, None if there is none."""
    return next((event for event in reversed(events) if event["event"] == name), None)


def lines(output):
    """The objects of `--json`, or of a list of requests."""
    return [json.loads(line) for line in output.splitlines()]


def library(source, folder):
    """Compiles a library to preload; None where there is no compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("clang")
    if compiler is None:
        return None
    path = os.path.join(folder, os.path.basename(source).replace(".c", ".so"))
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o", path, source,
                    "-ldl"], check=True, timeout=120)
    return path
