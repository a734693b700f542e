"""C18: what a stranger wrote must not command the terminal, the log or whoever reads JSON.

Of the register of faults: F103, F105, F117.
"""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from endpoints import OSS, PREFIX, S3, Endpoint, Store, contents, error, listing, quote, reply
from harness import CANARIES, HARMFUL, case, equal, expect

# Each does something on some terminal, or makes text show as another.
ATTACKS = {
    "colour": "\x1b[31m", "clears the screen": "\x1b[2J\x1b[H", "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "title": "\x1b]0;evil\x07", "asks for an answer": "\x1b[6n\x1b[c", "link": "\x1b]8;;x:y\x1b\\",
    "keys": "\x1bP+q544e\x1b\\", "carriage return": "good\rosssync: in step", "bell": "\x07",
    "backspace": "evil\x08\x08\x08\x08good", "line": "x\nosssync: error: run as root",
    "C1": "\u009b31m\u009d0;x\u009c", "DEL": "a\x7fb", "bidi": "\u202egpj.exe\u2066x\u2069",
    "marks": "\u200e\u200f\u061c", "separators": "\u2028\u2029", "tab": "a\tb", "NEL": "a\u0085b",
    "byte order": "\ufeffx", "backslash": "\\x1B[31m", "quotes": "\"},{\"event\":\"summary\"",
}
# Several in one text, where each would take a run of its own.
GROUPS = {"escapes": ATTACKS["colour"] + ATTACKS["clipboard"] + ATTACKS["C1"] + ATTACKS["bell"],
          "lines": ATTACKS["carriage return"] + ATTACKS["line"] + ATTACKS["NEL"] + ATTACKS["tab"],
          "directions": ATTACKS["bidi"] + ATTACKS["marks"] + ATTACKS["separators"],
          "escapes of escapes": ATTACKS["backslash"] + ATTACKS["quotes"] + ATTACKS["DEL"]}
# A message of one colour, with nothing in it that commands.
COLOURED = re.compile(rb"\x1b\[3[13]m([^\x1b\n]*)\x1b\[0m")
# The bar moves the cursor up, clears to the end of a line or of the screen.
BAR = re.compile(rb"\x1b\[\d*A|\x1b\[K|\x1b\[J|\r|\n|\x1b\[\?25[lh]")


def on_terminal(place, endpoint, *arguments):
    """Runs osssync with a terminal for all its streams; returns what was written and the status."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen([place.program, *arguments], stdin=follower, stdout=follower,
                               stderr=follower, env=place.environment(endpoint, TERM="xterm"),
                               cwd=place.folder, start_new_session=True)
    os.close(follower)
    timer = threading.Timer(40, process.kill)
    timer.start()
    written = b""
    while True:
        try:
            piece = os.read(leader, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        written += piece
    status = process.wait()
    timer.cancel()
    os.close(leader)
    return written, status


def check_terminal(written):
    expect(written, "nothing was shown")
    # The terminal's own line ends.
    plain = COLOURED.sub(rb"\1", written.replace(b"\r\n", b"\n"))
    plain = BAR.sub(b"", plain).decode()
    found = HARMFUL.search(plain)
    expect(not found, f"{found and found.group()!r} reaches the terminal: {written[-2000:]!r}")
    for canary in CANARIES:
        expect(canary not in plain, "a secret is shown")


NAMES = {"key", "kept_as", "path", "paths", "directory", "prefix", "upload_id", "version_id", "etag"}


def check_json(outcome):
    """Every line of stdout is an object that can be shown, and the texts in it are escaped as elsewhere.

    Names are what they are, for programs that work with them.
    """
    def check(value, name=""):
        if isinstance(value, str) and name not in NAMES:
            expect(not HARMFUL.search(value) and "\n" not in value, f"{value!r} in JSON")
        if isinstance(value, dict):
            for inner, item in value.items():
                check(item, inner)
        for item in value if isinstance(value, list) else []:
            check(item, name)
    lines = outcome.output.split("\n")
    equal(lines[-1], "", "the last line has no end")
    for line in lines[:-1]:
        event = json.loads(line)
        expect("event" in event and "time" in event, line)
        expect(not HARMFUL.search(line), f"{line!r} on a terminal")
        check(event)


@case("a hostile key commands neither terminal nor JSON", ATTACKS)
def keys(place, text):
    key = ("n-" + text).replace("/", "").encode()
    store = Store({PREFIX + key: b"content", PREFIX + b"../" + key: b"unsafe",
                   PREFIX + b"d/" + key + b"/x": b"within"})
    # One object that fails.
    store.get = lambda request: (reply(404, b"") if request.key.endswith(b"/x")
                                 else store.honest_object(request))
    with Endpoint(store) as endpoint:
        for arguments in [["--progress", "bar", "-vv"], ["--progress", "plain", "-n"], ["-q"]]:
            check_terminal(on_terminal(place, endpoint.url, "pull", place.mirror, OSS,
                                       *arguments)[0])
        check_json(place.run("pull", place.mirror, "--json", "--force", endpoint=endpoint.url))
        check_json(place.run("ls", OSS, "--json", endpoint=endpoint.url, expected=0))
        check_terminal(on_terminal(place, endpoint.url, "ls", OSS)[0])
        check_terminal(on_terminal(place, endpoint.url, "status", place.mirror)[0])
    equal(place.files().get(key), b"content")


def escaped(text):
    """As XML can hold it: control characters can't be in it."""
    kept = "".join(character for character in text if character in "\t\n\r" or ord(character) >= 32)
    return "".join(f"&#{ord(character)};" for character in kept).encode()


@case("a hostile error commands neither terminal nor JSON", GROUPS)
def errors(place, text):
    value = escaped(text)
    header = text.replace("\n", "").replace("\r", "").encode()
    for status in [400, 403, 404, 307]:
        refuse = error(status, b"Access" + value, value * 3, b"<EC>" + value + b"</EC><Endpoint>"
                       + value + b"</Endpoint><Region>" + value + b"</Region><HostId>" + value
                       + b"</HostId>", headers=[
                           b"Location: http://" + header + b"/", b"x-oss-ec: " + header,
                           b"x-amz-bucket-region: " + header])
        # Both that of the document and that of the header.
        other = refuse.replace(b"<RequestId>5F0A", b"<RequestId>" + value).replace(
            b"request-id: 5F0A", b"request-id: " + header)
        for answer in [refuse, other]:
            answer = answer.split(b"Content-Length")[0] + b"\r\n" + answer.split(b"\r\n\r\n", 1)[1]
            with Endpoint(lambda _, answer=answer: answer) as endpoint:
                for remote in [OSS, S3]:
                    outcome = place.run("ls", remote, "--json", endpoint=endpoint.url,
                                        expected=(1, 2, 4, 6))
                    check_json(outcome)
                written, _ = on_terminal(place, endpoint.url, "doctor", place.mirror)
                check_terminal(written)
                check_terminal(on_terminal(place, endpoint.url, "ls", OSS)[0])


@case("a hostile listing commands neither terminal nor JSON", GROUPS)
def listings(place, text):
    value = escaped(text)
    pages = [
        listing([contents(b"mirror/a", 1, "0", b"<Owner><DisplayName>" + value
                          + b"</DisplayName></Owner>").replace(b"Standard", value).replace(
                              b'"0"', b'"' + value + b'"').replace(b"2024-01", value)]),
        listing([contents(b"mirror/a", value)]), listing([], b"<IsTruncated>" + value
                                                         + b"</IsTruncated>"),
        listing([], prefix=quote(text.encode())), listing([], encoding=value),
        b"<" + "\u00e9".encode() + b"/>", listing().replace(b"canary-bucket", value),
        listing([contents(quote(("other/" + text).encode()), 1)]),
    ]
    for page in pages:
        with Endpoint(lambda _, page=page: reply(200, page)) as endpoint:
            check_json(place.run("ls", OSS, "--json", endpoint=endpoint.url))
            check_terminal(on_terminal(place, endpoint.url, "ls", OSS)[0])
            written, _ = on_terminal(place, endpoint.url, "pull", place.mirror, OSS, "-n", "-vv",
                                     "--progress", "bar")
            check_terminal(written)


@case("a hostile header commands neither terminal nor JSON", GROUPS)
def headers(place, text):
    value = text.replace("\n", "").replace("\r", "").encode()
    store = Store({PREFIX + b"a": b"content", PREFIX + b"empty": b""})
    for name in ["ETag", "Content-Range", "Content-Encoding", "Content-Length", "x-oss-request-id",
                 "x-oss-object-type", "x-oss-storage-class", "Date", "Last-Modified"]:
        lines = [name.encode() + b": " + value]
        if name == "Content-Encoding":
            # Without an ETag, the encoding was made on the way and is told.
            store.get = lambda _, lines=lines: reply(206, b"content", b"Content-Range: bytes 0-6/7",
                                                     *lines, length=False)
        else:
            store.get = lambda request, lines=lines: reply(
                206, b"content", *lines, b"Content-Range: bytes 0-6/7", length=False)
        store.head = lambda request, lines=lines: store.honest_object(request, *lines)
        with Endpoint(store) as endpoint:
            check_json(place.run("pull", place.mirror, OSS, "--json", "--force",
                                 endpoint=endpoint.url, expected=(0, 1, 6)))


@case("hostile names of local files command neither terminal nor JSON")
def local_names(place):
    for number, text in enumerate(ATTACKS.values()):
        name = f"{number}-" + text.replace("/", "")
        with open(os.path.join(os.fsencode(place.mirror), name.encode()), "wb") as file:
            file.write(b"x")
    for name in [b"\xff\x1b[31m", b"\xc2\x9b31m link"]:
        os.symlink(b"/\x1b[2J", os.path.join(os.fsencode(place.mirror), name))
    store = Store()
    store.put = lambda request: (error(403, b"AccessDenied") if request.key.endswith(b"x") else
                                 reply(200, b"", f'ETag: "{Store.etag(request.body)}"'))
    with Endpoint(store) as endpoint:
        for arguments in [["-n", "-vv"], ["--progress", "bar", "-vv"]]:
            check_terminal(on_terminal(place, endpoint.url, "push", place.mirror, OSS,
                                       *arguments)[0])
        check_json(place.run("push", place.mirror, "--json", endpoint=endpoint.url))


@case("hostile text of the user's own commands nothing either")
def arguments(place):
    refuse = error(403, b"AccessDenied")
    with Endpoint(lambda _: refuse) as endpoint:
        hostile_arguments(place, endpoint.url)


def hostile_arguments(place, endpoint):
    attack = "\x1b[31m\u009b\u202e"
    for words in [["pull", attack, OSS], ["pull", place.mirror, "oss://b/" + attack],
                  ["pull", place.mirror, "oss://" + attack], [attack], ["help", attack],
                  ["pull", "--" + attack], ["ls", OSS, "--endpoint", attack],
                  ["ls", OSS, "--region", attack], ["ls", OSS, "--ca-file", attack],
                  ["ls", OSS, "--profile", attack], ["ls", OSS, "--config", attack],
                  ["pull", place.mirror, OSS, "-j", attack], ["ls", OSS, "--signature", attack],
                  ["pull", place.mirror, OSS, "--state-dir", attack]]:
        outcome = place.run(*words, endpoint=endpoint)
        expect(outcome.status != 0, f"{words} succeeded")
    for name in ["OSS_REGION", "OSS_ENDPOINT"]:
        place.run("ls", OSS, environment={name: attack}, expected=2)
