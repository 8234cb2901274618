"""A small WebDriver client (https://www.w3.org/TR/webdriver2/) with only the standard library: the part that tests of pages
need from headless Chromium. One Browser is one chromedriver with one session; closing it ends both.
"""

import json
import os
import re
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"enter": "\ue007", "tab": "\ue004", "escape": "\ue00c", "space": " ", "right": "\ue014", "left": "\ue012", "up": "\ue013", "down": "\ue015", "home": "\ue011", "end": "\ue010"}


class WebDriverError(Exception):
    pass


def available():
    return bool(shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("google-chrome")))


class Browser:
    def __init__(self, width=1280, height=900, dark=False, script=True, profile=None):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = ""
        while "started successfully on port" not in line:
            line = self.driver.stdout.readline()
            if not line:
                raise WebDriverError("chromedriver did not start")
        self.base = "http://127.0.0.1:%s" % re.search(r"on port (\d+)", line).group(1)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                     "--disable-background-networking", "--disable-component-update", "--window-size=%d,%d" % (width, height)]
        if profile:
            arguments.append("--user-data-dir=%s" % profile)
        if dark:
            arguments.append("--blink-settings=preferredColorScheme=0")
        options = {"binary": shutil.which("chromium") or shutil.which("google-chrome"), "args": arguments}
        if not script:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        answer = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self._ask("DELETE", self.session)
        except (WebDriverError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait(timeout=20)

    def _ask(self, method, path, body=None):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise WebDriverError(json.load(error)["value"].get("message", "")[:400])

    def ask(self, method, path, body=None):
        return self._ask(method, self.session + path, body)

    def resize(self, width, height):
        """Sets the size of the page's viewport, not of the window."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def command(self, name, **params):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": name, "params": params})

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    @property
    def url(self):
        return self.ask("GET", "/url")

    @property
    def title(self):
        return self.ask("GET", "/title")

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector="main"):
        return self.run("const e = document.querySelector(arguments[0]); return e ? e.innerText : null", selector)

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText.trim())", selector)

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.ask("POST", "/element/%s/click" % self.find(selector))

    def write(self, selector, text):
        self.ask("POST", "/element/%s/value" % self.find(selector), {"text": text})

    def press(self, *keys):
        """Sends keys to the page, as a user without a mouse would."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, what, script, *arguments, seconds=120):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = self.run(script, *arguments)
            if found:
                return found
            time.sleep(0.05)
        raise WebDriverError("no %s within %d s; the page says: %s" % (what, seconds, (self.text("body") or "")[:600]))

    def wait_for(self, selector, seconds=120):
        self.wait(selector, "return document.querySelector(arguments[0]) !== null", selector, seconds=seconds)

    def log(self, kind):
        return self.ask("POST", "/se/log", {"type": kind})

    def requested(self):
        """Every URL requested since the last call."""
        urls = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return urls

    def screenshot(self, path, whole=True):
        import base64
        size = {}
        if whole:
            box = self.command("Page.getLayoutMetrics")["cssContentSize"]
            size = {"clip": {"x": 0, "y": 0, "width": box["width"], "height": min(box["height"], 6000), "scale": 1}, "captureBeyondViewport": True}
        data = self.command("Page.captureScreenshot", format="png", **size)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        return os.path.getsize(path)
