"""A headless Chromium, driven over the DevTools protocol through a pair of pipes, so that neither a driver nor a
package for WebSockets is needed."""

import base64
import json
import os
import queue
import shutil
import subprocess
import threading
import time

PATIENCE = 30
NAMES = ("chromium-headless-shell", "chromium", "chromium-shell", "google-chrome")
# Keys whose names are not their characters: name: (code of the key, its number, text).
KEYS = {"Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""), "Tab": ("Tab", 9, ""),
        "ArrowDown": ("ArrowDown", 40, ""), "ArrowUp": ("ArrowUp", 38, ""), "ArrowRight": ("ArrowRight", 39, ""),
        "End": ("End", 35, ""), "Home": ("Home", 36, "")}
CONTROL = 2
WATCH_VIOLATIONS = """window.violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.violations.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));"""


class BrowserError(Exception):
    pass


def find():
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise BrowserError("no Chromium in $PATH; on Debian install chromium-headless-shell")


class Page:
    """One tab of a browser of its own, whose profile is in `folder`. What the page says wrong is in `errors`."""

    def __init__(self, folder, width=1440, height=900):
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()
        # Chromium reads descriptor 3 and writes descriptor 4. Root has no sandbox there.
        self.process = subprocess.Popen(
            ["bash", "-c", 'in=$1 out=$2; shift 2; exec "$@" 3<&"$in" 4>&"$out"', "bash",
             str(to_browser), str(from_browser), find(), "--headless", "--remote-debugging-pipe",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
             "--user-data-dir=" + os.path.join(folder, "profile"), "--window-size=%d,%d" % (width, height),
             "--ignore-certificate-errors"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(folder, "browser.log"), "w"))
        os.close(to_browser)
        os.close(from_browser)
        self.answers, self.count, self.errors, self.session = queue.Queue(), 0, [], None
        threading.Thread(target=self._read, daemon=True).start()
        target = self.call("Target.createTarget", url="about:blank", width=width, height=height)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self.call(domain + ".enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH_VIOLATIONS)

    def _read(self):
        rest = b""
        while True:
            try:
                piece = os.read(self.back, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self.answers.put(None)
                return
            *messages, rest = (rest + piece).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    self.answers.put(message)
                else:
                    self._note(message["method"], message["params"])

    def _note(self, method, params):
        """Keeps what the console, the policy and exceptions say."""
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append("%s %s" % (params["entry"]["text"], params["entry"].get("url", "")))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(str([each.get("value") for each in params["args"]]))

    def call(self, method, **params):
        """One command, one answer: nothing is sent before the answer to what was sent last has come."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        answer = self.answers.get(timeout=PATIENCE)
        if answer is None or "error" in answer:
            raise BrowserError("%s: %s" % (method, answer and answer["error"]))
        return answer["result"]

    def evaluate(self, expression):
        """The value of a JavaScript expression, which may be a promise."""
        got = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise BrowserError("%s: %s" % (expression, got["exceptionDetails"]))
        return got["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Waits until the expression is true, and returns its value; the last one if it never is."""
        end = time.monotonic() + seconds
        while True:
            value = self.evaluate(expression)
            if value or time.monotonic() > end:
                return value
            time.sleep(0.02)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def press(self, *keys):
        """Presses keys one after the other; "Ctrl+s" holds another meanwhile."""
        for key in keys:
            modifiers = CONTROL if key.startswith("Ctrl+") else 0
            key = key.removeprefix("Ctrl+")
            code, number, text = KEYS.get(key, ("", ord(key.upper()[0]), key))
            event = {"key": key, "code": code, "windowsVirtualKeyCode": number, "modifiers": modifiers}
            if text and not modifiers:
                event["text"] = text
            self.call("Input.dispatchKeyEvent", type="keyDown", **event)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def prefer(self, scheme):
        """What the system says of colours: "dark" or "light"."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def work_seconds(self):
        """The time that scripts, styles and layout of the page have taken so far."""
        metrics = {each["name"]: each["value"] for each in self.call("Performance.getMetrics")["metrics"]}
        return metrics["ScriptDuration"] + metrics["RecalcStyleDuration"] + metrics["LayoutDuration"]

    def violations(self):
        return self.evaluate("window.violations")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
