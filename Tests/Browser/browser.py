"""Chromium without a window, and a server that notes what it asks for."""

import http.server
import json
import os
import re
import subprocess
import threading
from html import unescape

# What a reader of the page measures, from a page that has it in a frame.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0}
iframe{border:0;display:block;width:WIDTHpx;height:HEIGHTpx}</style>
<iframe src="page.html"></iframe><pre id="found"></pre><script>
function channel(value){value/=255;return value<=.04045?value/12.92:((value+.055)/1.055)**2.4}
function light(color){
return .2126*channel(color[0])+.7152*channel(color[1])+.0722*channel(color[2])}
function color(text){return text.match(/[0-9.]+/g).map(Number)}
function ground(element){for(;element;element=element.parentElement){
const found=color(getComputedStyle(element).backgroundColor);
if(found.length<4||found[3]>0)return found}return [255,255,255]}
onload=()=>{const frame=document.querySelector("iframe"),page=frame.contentDocument
const root=page.documentElement,closed=root.scrollHeight
for(const part of page.querySelectorAll("details"))part.open=true
let worst=[99,""]
for(const element of page.body.querySelectorAll("*")){
if(![...element.childNodes].some(node=>node.nodeType==3&&node.data.trim()))continue
const text=light(color(getComputedStyle(element).color)),back=light(ground(element))
const ratio=(Math.max(text,back)+.05)/(Math.min(text,back)+.05)
if(ratio<worst[0])worst=[ratio,element.outerHTML.slice(0,80)]}
document.getElementById("found").textContent=JSON.stringify({width:root.clientWidth,
scrollWidth:root.scrollWidth,height:closed,contrast:worst,title:page.title,top:document.title,
text:page.body.innerText,dark:matchMedia("(prefers-color-scheme:dark)").matches,
active:page.querySelectorAll("script,img,iframe,link,object,form,a").length})}
</script>"""


class Browser:
    """Shows one page; everything that it asks for, of any host, is noted."""

    def __init__(self, folder):
        self.folder, self.requests = folder, []
        noted = self.requests

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=folder)

            def do_GET(self):
                # As a proxy it is told the host, too.
                noted.append(self.path)
                self.path = self.path.removeprefix("http://" + self.headers["Host"])
                super().do_GET()

            def end_headers(self):
                # Two pages of one second have one time, by which a cached one would be as good.
                self.send_header("Cache-Control", "no-store")
                super().end_headers()

            def do_CONNECT(self):
                noted.append(self.path)
                self.send_error(403)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def chromium(self, *arguments):
        ended = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update", "--no-first-run",
             f"--user-data-dir={self.folder}/browser", *arguments],
            capture_output=True, timeout=120)
        if ended.returncode:
            raise AssertionError(f"chromium ended with {ended.returncode}: {ended.stderr[-500:]}")
        return ended.stdout.decode()

    def look(self, page, width, height, dark=False, picture=None):
        """What a page is like in a window of this size."""
        with open(page, encoding="utf-8") as file:
            text = file.read()
        # A frame that reloads would never be complete.
        text = re.sub(r'<meta http-equiv="refresh"[^>]*>', "", text)
        for name, content in [("page.html", text), ("frame.html", FRAME.replace(
                "WIDTH", str(width)).replace("HEIGHT", str(height)))]:
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        self.requests.clear()
        options = [f"--window-size={width},{height}"]
        if dark:
            options.append("--blink-settings=preferredColorScheme=0")
        dom = self.chromium(*options, f"--proxy-server={self.url}",
                            "--proxy-bypass-list=<-loopback>", "--dump-dom",
                            self.url + "/frame.html")
        asked = sorted(set(self.requests))
        if picture:
            self.chromium(*options, f"--screenshot={picture}", f"file://{self.folder}/page.html")
        found = json.loads(unescape(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1]))
        return dict(found, asked=asked)
