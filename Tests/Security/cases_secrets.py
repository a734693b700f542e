"""C19 to C22: where credentials may be, and that they are nowhere else."""

import base64
import itertools
import json
import os
import re
import signal
import threading
import time
import urllib.parse

from endpoints import OSS, PREFIX, S3, Endpoint, Store, error, quote, reply
from harness import CANARIES, KEY_ID, SECRET, TOKEN, case, equal, expect

PROFILE_SECRET = "canary-profile-secret-5e"


def spellings(secret):
    """A secret as it is, reversed bytes aside, and as programs write it by mistake."""
    raw = secret.encode()
    return [raw, base64.b64encode(raw).rstrip(b"="), raw.hex().encode(), raw.hex().upper().encode(),
            urllib.parse.quote(secret, safe="").encode(), secret.encode("utf-16-le")]


def find_secrets(root, leaving_out=()):
    """The files beneath `root` that hold a secret."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if path in leaving_out or os.path.islink(path):
                continue
            with open(path, "rb") as file:
                content = file.read()
            for canary in CANARIES:
                if any(spelling in content for spelling in spellings(canary)):
                    found.append((path, canary))
    return found


def find_texts(root, texts):
    """The files beneath `root` that hold one of `texts`."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            found += [(name, text) for text in texts if text.encode() in content]
    return found


def no_secrets(outcome):
    """Also in none of the spellings that `judge` does not look for."""
    text = outcome.text.encode("utf-8", "surrogateescape")
    for canary in CANARIES:
        for spelling in spellings(canary):
            expect(spelling not in text, f"{canary} is shown as {spelling}: {outcome}")
    expect(not re.search("[Ss]ignature=[0-9A-Za-z+/]{8}", outcome.text),
           f"a signature is shown: {outcome}")


def honest(objects):
    """A store that also takes uploads."""
    store = Store(objects)

    def put(request):
        if request.method == b"POST" and "uploads" in request.query:
            return reply(200, b"<InitiateMultipartUploadResult><UploadId>U1</UploadId>"
                              b"</InitiateMultipartUploadResult>")
        if request.method == b"PUT" and "partNumber" in request.query:
            # The second part has no answer while somebody looks, so that a checkpoint stays.
            if request.query["partNumber"] == "2":
                store.looked.wait(60)
                return None
        elif request.method == b"PUT":
            store.objects[request.key] = request.body
        return reply(200, b"", f'ETag: "{Store.etag(request.body)}"')
    store.put = put
    store.looked = threading.Event()
    return store


@case("a whole life of a mirror leaves no secret anywhere", {"OSS": OSS, "S3": S3})
def life(place, remote):
    store = honest({PREFIX + b"a": b"content", PREFIX + b"d/b": b"x" * 10_000,
                    PREFIX + b"../bad": b"evil", PREFIX + b"gone": b"soon"})
    seen = []
    with Endpoint(store) as endpoint:
        def run(*arguments, **more):
            outcome = place.run(*arguments, endpoint=endpoint.url, **more)
            no_secrets(outcome)
            return outcome
        run("init", place.mirror, remote, "-vv", expected=0)
        run("pull", place.mirror, "-vv", expected=1)
        with open(os.path.join(place.mirror, "new"), "wb") as file:
            file.write(b"mine")
        with open(os.path.join(place.mirror, "large"), "wb") as file:
            file.truncate(20 << 20)
        run("push", place.mirror, "--json", "-vv", started=interrupted(endpoint, store, seen))
        run("status", place.mirror, "-vv")
        run("status", place.mirror, "--json")
        run("doctor", place.mirror, "-vv")
        run("doctor", place.mirror, "--json")
        run("ls", remote, "-vv")
        run("uploads", remote)
        run("sync", place.mirror, "-vv", "--exclude", "large")
        run("get", remote + "/a", os.path.join(place.folder, "got"), "--json", expected=0)
        run("put", os.path.join(place.mirror, "new"), remote + "/put", "--json", expected=0)
        run("put", os.path.join(place.mirror, "large"), remote + "/put2",
            started=interrupted(endpoint, store, seen))
        run("uploads", remote, "--abort", "--older-than", "0s")
        run("pull", place.mirror, "-vv", "--no-such-option", SECRET[:4], expected=2)
        del store.objects[PREFIX + b"gone"]
        store.get = lambda _: error(403, b"SignatureDoesNotMatch", b"The string to sign was "
                                    b"OSS4-HMAC-SHA256 and the key " + KEY_ID.encode())
        store.objects[PREFIX + b"c"] = b"never"
        run("pull", place.mirror, "--delete", "-vv", expected=(1, 4))
        run("cancel", place.mirror, "-vv")
    equal(find_secrets(place.folder), [])
    equal(len(seen), 2, "runs that were looked at from outside")
    for canary in CANARIES:
        expect(all(canary.encode() not in text for text in seen), f"{canary} is visible: {seen}")


def visible(process):
    """What other users see of a process and its children, and what these were given."""
    def content(path):
        # A thread or a child may end between two looks.
        try:
            with open(path, "rb") as file:
                return file.read()
        except (FileNotFoundError, ProcessLookupError):
            return b""
    found = content(f"/proc/{process}/cmdline")
    for task in os.listdir(f"/proc/{process}/task"):
        for child in content(f"/proc/{process}/task/{task}/children").decode().split():
            for name in ["cmdline", "environ"]:
                found += content(f"/proc/{child}/{name}")
    return found


def interrupted(endpoint, store, seen):
    """Looks at a run that sends the second part of a file, then sends it SIGINT."""
    number = len(endpoint.requests)
    store.looked.clear()

    def started(process):
        def wait():
            try:
                while process.status is None and not any(
                        request.query.get("partNumber") == "2"
                        for request in endpoint.requests[number:]):
                    time.sleep(0.02)
                seen.append(visible(process.pid))
                process.send(signal.SIGINT)
            finally:
                store.looked.set()
        threading.Thread(target=wait, daemon=True).start()
    return started


def echo(request, status=403):
    """An error document with all that the endpoint knows of who asks, wherever it may have words."""
    authorization = request.headers["authorization"].encode()
    token = request.headers.get("x-oss-security-token",
                                request.headers.get("x-amz-security-token", "")).encode()
    equal(token, TOKEN.encode())
    # The signature and the token are what the endpoint knows; the secret itself never is, unless
    # it has it from somewhere else.
    expect(SECRET.encode() not in request.raw, "the secret was sent")
    words = b" ".join([token, quote(token), authorization, SECRET.encode(), token * 20])
    more = [b"<" + name + b">" + words + b"</" + name + b">"
            for name in [b"Endpoint", b"EC", b"Region", b"HostId"]]
    return error(status, b"Code " + words, b"no: " + words, *more,
                 headers=[b"x-oss-ec: " + words, b"x-amz-request-id: " + words])


def signatures(endpoint):
    """What the requests were signed with, and a part of each."""
    found = {re.split("[=:]", request.headers["authorization"].rstrip("="))[-1]
             for request in endpoint.requests}
    return found | {text[10:30] for text in found}


@case("an error document that repeats the request's headers shows no secret", {
    f"{name}, {place} with {status}": (remote, place, status)
    for name, remote in [("OSS", OSS), ("S3", S3)]
    for place in ["everything", "objects"] for status in [403, 500]})
def repeated(place, parameter):
    remote, where, status = parameter
    store = Store({PREFIX + b"a": b"content"})
    mine = os.path.join(place.mirror, "mine")
    with open(mine, "wb") as file:
        file.write(b"mine")

    def answer(request):
        if where == "objects" and request.is_listing:
            return store(request)
        if request.method == b"HEAD" and "x-oss-security-token" in request.headers:
            document = echo(request, status).partition(b"\r\n\r\n")[2]
            return reply(status, b"", b"x-oss-err: " + base64.b64encode(document))
        return echo(request, status)
    said = ""
    with Endpoint(answer) as endpoint:
        for arguments in [["ls", remote], ["pull", place.mirror, remote, "--json", "-vv"],
                          ["push", place.mirror, remote, "-vv"], ["sync", place.mirror, remote],
                          ["status", place.mirror], ["get", remote + "/a", place.folder + "/got"],
                          ["put", mine, remote + "/b", "--json"], ["uploads", remote],
                          ["doctor", place.mirror]]:
            outcome = place.run(*arguments, endpoint=endpoint.url)
            no_secrets(outcome)
            said += outcome.text
            expect(outcome.status not in (0, 2) or arguments[0] in ("ls", "status", "doctor"),
                   f"{arguments}: {outcome}")
            for text in signatures(endpoint):
                expect(text not in outcome.text, f"{text} is shown: {outcome}")
        expect(endpoint.requests, "nothing was asked")
        equal(find_secrets(place.folder), [])
        equal(find_texts(place.folder, signatures(endpoint)), [])
    expect("no: (secret)" in said, f"what the endpoint said is not shown: {said}")


@case("neither address nor path of a request has a secret in it")
def addresses(place):
    store = Store({PREFIX + b"a": b"content"})
    for remote in [OSS, S3]:
        with Endpoint(store) as endpoint:
            place.run("pull", place.mirror, remote, "--rebind", endpoint=endpoint.url, expected=0)
            for request in endpoint.requests:
                for canary in [*CANARIES, KEY_ID]:
                    expect(canary not in request.target, request.target)


@case("no option takes a secret")
def options(place):
    for name in ["--access-key-secret", "--secret", "--access-key-id", "--token",
                 "--security-token", "--password", "--sts-token"]:
        place.run("ls", OSS, name, "x", expected=2)
    overview = place.run("help", expected=0).output
    for command in re.findall(r"^  ([a-z]+) ", overview, re.M):
        text = place.run("help", command, expected=0).output
        # A file or a command that has one is none.
    secret = r"--[a-z-]*(secret|token|password)(?!-(file|command)\b)"
    expect(not re.search(secret, text), text)


def profile(place, content, mode=0o600, name=".config/osssync/config"):
    path = os.path.join(place.home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(content)
    os.chmod(path, mode)
    return path


NO_VARIABLES = {name: None for name in [
    "OSS_ACCESS_KEY_ID", "OSS_ACCESS_KEY_SECRET", "OSS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]} | {"ALIBABA_CLOUD_ECS_METADATA_DISABLED": "true"}
KEYS = f"[default]\naccess-key-id = {KEY_ID}\naccess-key-secret = {PROFILE_SECRET}\n"


@case("a file of credentials that others may read or change is refused", {
    f"{name} {oct(mode)}": (name, mode, content, remote)
    for name, content, remote in [
        (".config/osssync/config", KEYS, OSS),
        (".ossutilconfig", f"[Credentials]\naccessKeyID={KEY_ID}\naccessKeySecret={PROFILE_SECRET}\n",
         OSS),
        (".aws/credentials",
         f"[default]\naws_access_key_id={KEY_ID}\naws_secret_access_key={PROFILE_SECRET}\n", S3),
        (".aliyun/config.json", json.dumps({"current": "default", "profiles": [
            {"name": "default", "mode": "AK", "access_key_id": KEY_ID,
             "access_key_secret": PROFILE_SECRET}]}), OSS)]
    for mode in [0o644, 0o640, 0o620, 0o602, 0o666, 0o601]})
def exposed(place, parameter):
    name, mode, content, remote = parameter
    with Endpoint(Store({PREFIX + b"a": b"x"})) as endpoint:
        path = profile(place, content, mode, name)
        outcome = place.run("pull", place.mirror, remote, environment=NO_VARIABLES,
                            endpoint=endpoint.url, expected=(2, 4))
        expect("chmod 600" in outcome.text, str(outcome))
        equal(endpoint.requests, [], "the secret was used")
        os.chmod(path, 0o600)
        no_secrets(place.run("pull", place.mirror, remote, "-vv", environment=NO_VARIABLES,
                             endpoint=endpoint.url, expected=0))
    equal(find_secrets(place.folder, leaving_out=[path]), [])


PROCESS = """#!/usr/bin/env python3
import json, os, sys
with open("/proc/self/cmdline", "rb") as file:
    line = file.read()
with open("/proc/self/environ", "rb") as file:
    whole = file.read()
kept = {"environment": dict(os.environ), "whole": whole.decode(), "arguments": line.decode(), "input": sys.stdin.read(),
        "descriptors": [os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")
                        if os.path.exists("/proc/self/fd/" + name)]}
with open(os.environ["HOME"] + "/seen", "w") as file:
    json.dump(kept, file)
sys.stderr.write("canary-profile-secret-5e on stderr\\n")
print(json.dumps({"AccessKeyId": "ID", "AccessKeySecret": "canary-profile-secret-5e",
                  "SecurityToken": "T", "Expiration": "2090-01-01T00:00:00Z", "Version": 1,
                  "SecretAccessKey": "canary-profile-secret-5e", "SessionToken": "T"}))
"""


def credentials_process(place, script, line=None):
    program = os.path.join(place.home, "process")
    with open(program, "w") as file:
        file.write(script)
    os.chmod(program, 0o700)
    profile(place, f"[default]\ncredential-process = {line or program}\n")
    return program


@case("a credentials process gets a clean environment and nothing else")
def clean(place):
    program = credentials_process(place, PROCESS)
    profile(place, f"[default]\ncredential-process = {program} --word 'two words' -x\n")
    environment = NO_VARIABLES | {
        "ALIBABA_CLOUD_CREDENTIALS_URI": "http://127.0.0.1:1/" + SECRET, "OTHER_SECRET": SECRET,
        "LD_PRELOAD": "", "https_proxy": f"http://u:{SECRET}@127.0.0.1:9"}
    with Endpoint(Store({PREFIX + b"a": b"x"})) as endpoint:
        outcome = place.run("pull", place.mirror, OSS, "-vv", environment=environment,
                            endpoint=endpoint.url, expected=0)
        no_secrets(outcome)
    with open(os.path.join(place.home, "seen")) as file:
        seen = json.load(file)
    # It has to reach its service as the user's programs do.
    equal(seen["environment"].pop("https_proxy"), f"http://u:{SECRET}@127.0.0.1:9")
    # And with the settings of AWS's own tools, which are no keys.
    equal(set(seen["environment"]) - {"PATH", "HOME", "LANG", "TMPDIR", "LC_CTYPE", "AWS_REGION",
                                      "AWS_ENDPOINT_URL_S3"}, set())
    seen["whole"] = seen["whole"].replace(f"https_proxy=http://u:{SECRET}@127.0.0.1:9\0", "")
    for canary in [*CANARIES, KEY_ID]:
        expect(canary not in json.dumps(seen), f"the process was given a secret: {seen}")
    expect("\0--word\0two words\0-x\0" in seen["arguments"], seen["arguments"])
    equal(seen["input"], "")
    expect(len(seen["descriptors"]) <= 4, f"descriptors were inherited: {seen['descriptors']}")
    equal(find_secrets(place.folder, leaving_out=[program, os.path.join(place.home, "seen")]), [])


@case("a credentials process is run without a shell", {
    word: word for word in ["$HOME", "`id`", "x;id", "| id", "> x", "&& id", "$(id)"]})
def no_shell(place, word):
    program = credentials_process(place, "#!/bin/sh\ntouch $HOME/ran\n")
    profile(place, f"[default]\ncredential-process = {program} {word}\n")
    outcome = place.run("ls", OSS, environment=NO_VARIABLES, expected=(2, 4))
    expect("without a shell" in outcome.text or "line" in outcome.text, str(outcome))
    expect(not os.path.exists(os.path.join(place.home, "ran")), "it was started")


@case("a credentials process that misbehaves ends the run with 4", {
    "prints without end": "#!/bin/sh\nexec yes canary-profile-secret-5e\n",
    "prints nothing": "#!/bin/sh\n", "fails": "#!/bin/sh\necho canary-profile-secret-5e >&2\nexit 1\n",
    "prints half": "#!/bin/sh\nprintf '{\"AccessKeySecret\": \"canary-profile-secret-5e'\n",
    "prints an error": "#!/bin/sh\necho 'error: canary-profile-secret-5e is wrong'\n",
    "dies": "#!/bin/sh\nkill -9 $$\n", "hangs": "#!/bin/sh\nexec sleep 100\n",
    "prints a header": "#!/bin/sh\nprintf '{\"AccessKeyId\": \"a\\\\r\\\\nX-Evil: 1\", "
                       "\"AccessKeySecret\": \"canary-profile-secret-5e\"}'\n",
    "prints types": "#!/bin/sh\necho '{\"AccessKeyId\": 1, \"AccessKeySecret\": [\"canary\"]}'\n",
    "prints deep": "#!/bin/sh\nhead -c 60000 /dev/zero | tr '\\\\0' '['\n"})
def bad_process(place, script):
    credentials_process(place, script)
    with Endpoint(Store()) as endpoint:
        outcome = place.run("pull", place.mirror, OSS, "-vv", environment=NO_VARIABLES,
                            endpoint=endpoint.url)
        no_secrets(outcome)
        expect(outcome.status in (4, 1) and outcome.seconds < 15, str(outcome))
        equal(endpoint.requests, [], "a request was made")


GIVEN = json.dumps({"AccessKeyId": "ID", "AccessKeySecret": PROFILE_SECRET, "Code": "Success",
                    "SecurityToken": "T", "Expiration": "2090-01-01T00:00:00Z"}).encode()


@case("credentials of a local service are used and shown nowhere")
def service(place):
    with Endpoint(lambda _: reply(200, GIVEN)) as local, Endpoint(Store({PREFIX + b"a": b"x"})) as far:
        outcome = place.run("pull", place.mirror, OSS, "-vv", endpoint=far.url, expected=0,
                            environment=NO_VARIABLES | {
                                "ALIBABA_CLOUD_CREDENTIALS_URI": local.url + "/" + TOKEN,
                                "http_proxy": "http://127.0.0.1:9"})
        no_secrets(outcome)
        for request in far.requests:
            expect("Credential=ID/" in request.headers["authorization"], "another key")
    equal(find_secrets(place.folder), [])


@case("a local service of credentials that misbehaves ends the run", {
    "redirects": lambda other: reply(302, b"", f"Location: {other.url}/x"),
    "redirects with content": lambda other: reply(307, GIVEN, f"Location: {other.url}/x"),
    "fails": lambda _: reply(500, b"canary-profile-secret-5e"),
    "answers without end": lambda _: itertools.chain([reply(200, b"", length=False)],
                                                     itertools.repeat(b"[" * 65536)),
    "sends headers without end": lambda _: itertools.chain(
        [b"HTTP/1.1 200 OK\r\n"], itertools.repeat(b"X-Canary: canary-profile-secret-5e\r\n")),
    "answers nonsense": lambda _: reply(200, b"canary-profile-secret-5e"),
    "answers half": lambda _: reply(200, GIVEN[:60]),
    "answers with a header": lambda _: reply(200, GIVEN.replace(b'"ID"', b'"I\\r\\nX: D"')),
    "hangs up": lambda _: None, "answers slowly": lambda _: slowly()})
def bad_service(place, make):
    with Endpoint() as other, Endpoint(lambda _: make(other)) as local, Endpoint(Store()) as far:
        outcome = place.run("pull", place.mirror, OSS, "-vv", endpoint=far.url, expected=4,
                            environment=NO_VARIABLES | {
                                "ALIBABA_CLOUD_CREDENTIALS_URI": local.url + "/" + TOKEN})
        no_secrets(outcome)
        expect(outcome.seconds < 20, str(outcome))
        equal((other.connections, far.requests), (0, []))


def slowly():
    yield reply(200, b"", length=False)
    for _ in range(200):
        time.sleep(0.2)
        yield b" "


@case("broken configuration shows its place and not its content", {
    "no equals sign": f"[default]\naccess-key-secret {PROFILE_SECRET}\n",
    "no section": f"[default\naccess-key-secret = {PROFILE_SECRET}\n",
    "quotes": f"[default]\naccess-key-id = x\naccess-key-secret = \"{PROFILE_SECRET}\n",
    "NUL": f"[default]\naccess-key-secret = {PROFILE_SECRET}\0\n",
    "half a pair": f"[default]\naccess-key-secret = {PROFILE_SECRET}\n",
    "two": f"[default]\naccess-key-secret = {PROFILE_SECRET}\naccess-key-secret = {PROFILE_SECRET}\n",
    "as an endpoint": f"[default]\nendpoint = http://u:{PROFILE_SECRET}@127.0.0.1:9/?x\n"
                      f"access-key-id = a\naccess-key-secret = b\n"})
def broken(place, content):
    profile(place, content)
    environment = NO_VARIABLES | {"OSS_ENDPOINT": None}
    for arguments in [["pull", place.mirror, OSS], ["doctor"], ["ls", OSS, "--json"]]:
        outcome = place.run(*arguments, "-vv", environment=environment)
        no_secrets(outcome)
        expect(outcome.status != 0 or arguments == ["doctor"], str(outcome))


@case("an endpoint with credentials in it is refused without showing them")
def endpoint_credentials(place):
    for address in [f"https://user:{SECRET}@oss.example.test", f"http://{SECRET}@127.0.0.1:9",
                    f"https://oss.example.test/?token={TOKEN}", f"https://oss.example.test/#{SECRET}"]:
        for arguments in [["ls", OSS], ["ls", S3], ["doctor"], ["init", place.mirror, OSS]]:
            outcome = place.run(*arguments, endpoint=address)
            no_secrets(outcome)
            expect(outcome.status != 0 or arguments == ["doctor"], str(outcome))
    equal(find_secrets(place.folder), [])
