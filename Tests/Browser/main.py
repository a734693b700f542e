"""The page of --html in headless Chromium: sizes, colours, hostile names, and what it asks for."""

import os
import signal
import sys
import tempfile

from Browser.browser import Browser
from Browser.history import HOSTILE, Mirror
from Support.checks import Tally, equal, expect

SIZES = {"at 360 pixels": (360, 800, False), "at 1280 pixels": (1280, 900, False),
         "at 1280 pixels in the dark": (1280, 900, True)}
# What is folded does not count: the page must not be endless.
HEIGHTS = {"at 360 pixels": 6000, "at 1280 pixels": 3500, "at 1280 pixels in the dark": 3500}


def kept(name):
    folder = os.environ.get("PICTURES")
    return folder and os.path.join(os.path.abspath(folder), name.replace(" ", "-") + ".png")


def check(browser, page, name, words, height):
    width, window, dark = SIZES[name]
    found = browser.look(page, width, window, dark, kept(os.path.basename(page)[:-5] + " " + name))
    equal(found["dark"], dark, "the colours that the browser prefers")
    expect(found["scrollWidth"] <= found["width"] == width,
           f"the page is {found['scrollWidth']} pixels wide in {found['width']}")
    expect(found["height"] <= height, f"the page is {found['height']} pixels high")
    expect(found["contrast"][0] >= 4.5, f"the contrast is {found['contrast']}")
    equal(found["active"], 0, "elements that could do something")
    expect("hostile" not in found["title"] + found["top"], "a script of a name ran")
    asked = [path for path in found["asked"] if "favicon" not in path]
    asked = [path.split("?")[0].rsplit("/", 1)[-1] for path in asked if "hostile" in path
             or path.startswith("/") or "127.0.0.1" in path]
    equal(sorted(set(asked)), ["frame.html", "page.html"], "what the browser asked for")
    for text in words:
        expect(text in found["text"], f"'{text}' is not shown")


def main():
    programs, words = sys.argv[1], sys.argv[2:]
    tally = Tally(tells_all=True)
    with tempfile.TemporaryDirectory() as folder:
        mirror = Mirror(programs, folder)
        try:
            ended, live = os.path.join(folder, "ended.html"), os.path.join(folder, "live.html")
            for index, name in enumerate(HOSTILE):
                mirror.write(f"hostile/{name}", 4000 + index)
            mirror.write("plain.jpg", 300_000)
            mirror.push()
            mirror.add_nights(400)
            mirror.run("log", mirror.directory, "--html", ended)
            for index in range(4):
                mirror.write(f"films/{'a long name ' * 8}{index}.mkv", 9_000_000)
            push = mirror.pushing("--bwlimit", "1M")
            os.link(mirror.page, live)
            push.send(signal.SIGTERM)
            push.wait(60)
            shown = os.path.join(folder, "shown")
            os.mkdir(shown)
            browser = Browser(shown)
            for name in SIZES:
                for page, title, texts in [
                        (ended, "a long history", [*HOSTILE[:4], "earlier months", "older runs"]),
                        (live, "a run that works", ["Running at", "ETA", "0.mkv"])]:
                    title = f"the page of {title} is right {name}"
                    if all(word in title for word in words):
                        tally.run(title, check, browser, page, name, texts, HEIGHTS[name])
        finally:
            mirror.end()
    return tally.end()


if __name__ == "__main__":
    sys.exit(main())
