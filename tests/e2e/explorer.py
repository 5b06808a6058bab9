#!/usr/bin/env python3
"""The Explorer in a headless Chromium: lists, follows, edits and refuses, and runs nothing that objects contain.

usage: explorer.py --server SAMPLE_APISERVER [--cluster KUBE_APISERVER] [--pictures FOLDER] [--rows 10000]

Screenshots of both themes are put into FOLDER. A KUBE_APISERVER serves events, of which one tab is. Exits 1 and
names each failed check.
"""

import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import pty
import re
import select
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse

from browser import Page
from checker import Checker
from servers import Server

GROUP = "wardle.example.com/v1beta1"
FLUNDERS = "/apis/" + GROUP + "/namespaces/%s/flunders"
MARKUP = "<img src=x onerror=window.pwned=1>"
CLIENTS = 4
ROWS = "document.querySelectorAll('.grid-row:not([hidden])').length"
STATE = "(document.querySelector('.state')?.textContent ?? '')"
TEXT = "(document.querySelector('%s')?.textContent ?? '')"


class Api:
    """One connection of the administrator."""

    def __init__(self, server):
        text = open(server.kubeconfig).read()
        find = lambda key: re.search(key + r': "?([^"\n]+)', text).group(1)
        self.url, self.token = find("server"), find("token")
        trust = ssl.create_default_context(cadata=base64.b64decode(find("certificate-authority-data")).decode())
        self.connection = http.client.HTTPSConnection(self.url.removeprefix("https://"), context=trust)

    def call(self, method, path, body=None):
        self.connection.request(method, path, body and json.dumps(body), {
            "Authorization": "Bearer " + self.token, "Content-Type": "application/json"})
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


def flunder(name, reference="another", **metadata):
    return {"apiVersion": GROUP, "kind": "Flunder", "metadata": {"name": name, **metadata},
            "spec": {"flunderReference": reference, "referenceType": "Flunder"}}


def create_many(server, count):
    """In namespace `many`, by clients side by side."""
    def create(first):
        api = Api(server)
        return [api.call("POST", FLUNDERS % "many", flunder("row-%05d" % n))[0] for n in range(first, count, CLIENTS)]

    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as clients:
        codes = [code for part in clients.map(create, range(CLIENTS)) for code in part]
    return codes.count(201)


def place(page, **parts):
    page.evaluate("void (location.hash = String(new URLSearchParams(%s)))" % json.dumps(parts))


def replace_text(page, old, new):
    """Changes the editor's text as typing does."""
    return page.evaluate("""(() => {
      const area = document.querySelector('textarea');
      const changed = area.value.includes(%s);
      area.value = area.value.replace(%s, () => %s);
      area.dispatchEvent(new Event('input'));
      return changed;
    })()""" % (json.dumps(old), json.dumps(old), json.dumps(new)))


def signs_in(t, page, api):
    page.go(api.url + "/explorer/")
    t.check(page.wait("!!document.querySelector('dialog #token')"), "without credentials it asks for a token")
    page.evaluate("document.querySelector('#token').focus()")
    page.type("wrong")
    page.press("Enter")
    t.check(page.wait("document.querySelector('dialog .notice')?.textContent.includes('refuses this token')"),
            "a wrong token is refused", page.evaluate(TEXT % "dialog"))
    page.errors.clear()  # Chromium's console names each 401.
    page.go(api.url + "/explorer/?again#token=" + api.token)
    t.check(page.wait("document.querySelector('#user')?.textContent === 'admin'"), "the token of the address signs in")
    t.check("token" not in page.evaluate("location.href"), "the address loses the token", page.evaluate("location.href"))
    t.check(page.evaluate("document.cookie") == "", "there is no cookie")
    page.errors[:] = [each for each in page.errors if not each.endswith("/api")]  # There is no core group.
    t.check(page.wait("[...document.querySelectorAll('nav a')].some((a) => a.textContent === 'flunders')"),
            "resources are listed", page.evaluate(TEXT % "nav"))
    t.check(page.evaluate("!performance.getEntriesByType('resource').some((e) => e.name.includes('editor.js'))"),
            "the editor is not loaded")


def follows(t, page, api):
    api.call("POST", FLUNDERS % "default", flunder("first", labels={"app": "web"}))
    place(page, resource=GROUP + "/flunders")
    t.check(page.wait(STATE + ".includes('1 object · live')"), "the collection is listed and live", page.evaluate(STATE))
    api.call("POST", FLUNDERS % "default", flunder("second"))
    t.check(page.wait(ROWS + " === 2"), "a row appears by the watch", page.evaluate(TEXT % ".grid"))
    api.call("DELETE", FLUNDERS % "default" + "/second")
    t.check(page.wait(ROWS + " === 1"), "and goes")
    page.press("/")
    page.type("nothing like it")
    t.check(page.wait(ROWS + " === 0"), "'/' filters rows")
    page.press("Escape", "Escape")
    t.check(page.wait(ROWS + " === 1"), "Escape ends the filter")
    place(page, resource=GROUP + "/flunders", labels="app=db")
    t.check(page.wait(STATE + ".includes('0 objects · live')"), "labels select", page.evaluate(STATE))
    place(page, resource=GROUP + "/flunders", labels="app in (")
    t.check(page.wait("document.querySelector('main .problem')?.textContent.includes('400')"),
            "a wrong selector is told", page.evaluate(TEXT % "main"))
    page.errors.clear()
    place(page, resource=GROUP + "/flunders", namespace="default")
    t.check(page.wait(ROWS + " === 1"), "a namespace is chosen")


def edits(t, page, api):
    page.evaluate("document.querySelector('.grid').focus()")
    page.press("j", "Enter")
    t.check(page.wait("document.querySelector('.yaml')?.textContent.includes('flunderReference: another')"),
            "Enter opens the object's YAML", page.evaluate(TEXT % ".detail"))
    t.check("managedFields" not in page.evaluate(TEXT % ".yaml"), "without managedFields")
    page.press("e")
    t.check(page.wait("!!document.querySelector('textarea')"), "'e' loads the editor")
    t.check(replace_text(page, "Reference: another", "Reference: other\n  typo: 1"), "the text is the object's")
    page.press("Ctrl+s")
    t.check(page.wait("document.querySelector('.editor .problem')?.textContent.includes('spec.typo')"),
            "an unknown field is refused", page.evaluate(TEXT % ".editor"))
    t.check(page.evaluate("document.querySelectorAll('.numbers .wrong').length") == 1 and "typo" in page.evaluate(
        "getSelection().toString()"), "and its line marked", page.evaluate("getSelection().toString()"))
    t.check(page.evaluate("document.querySelector('#save').disabled"), "and cannot be saved")
    replace_text(page, "\n  typo: 1", "")
    replace_text(page, "app: web", "app: two words")
    page.press("Ctrl+s")
    t.check(page.wait("document.querySelector('.editor .problem')?.textContent.includes('(422)')"),
            "a value is refused by validation", page.evaluate(TEXT % ".editor"))
    t.check("labels" in page.evaluate("getSelection().toString()"), "and its field marked",
            page.evaluate(TEXT % ".editor"))
    page.errors.clear()
    replace_text(page, "two words", "web")
    page.press("Ctrl+s")
    t.check(page.wait("document.querySelector('.diff .added')?.textContent.includes('flunderReference: other')"),
            "the difference is shown first", page.evaluate(TEXT % ".editor"))
    t.check(api.call("GET", FLUNDERS % "default" + "/first")[1]["spec"]["flunderReference"] == "another",
            "nothing is saved by the dry run")
    page.press("Enter")  # The focus is on Save.
    t.check(page.wait("document.querySelector('.yaml')?.textContent.includes('flunderReference: other')"),
            "the save is shown", page.evaluate(TEXT % ".detail"))
    got = api.call("GET", FLUNDERS % "default" + "/first")[1]
    t.check(got["spec"]["flunderReference"] == "other", "and stored", got)


def tabs(t, page):
    for tab, text in (("owners", "spec.flunderReference"), ("explain", "referenceType")):
        page.evaluate("document.querySelector('#tab-%s').click()" % tab)
        found = "document.querySelector('#tab-panel')?.textContent.includes('%s')"
        if tab == "explain":
            spec = "[...document.querySelectorAll('details')].find((d) => d.querySelector('code').textContent === 'spec')"
            t.check(page.wait("!!" + spec), "explain shows fields", page.evaluate(TEXT % "#tab-panel"))
            page.evaluate(spec + ".open = true")
        t.check(page.wait(found % text), "the tab %s has its text" % tab, page.evaluate(TEXT % "#tab-panel"))
    page.press("Escape")
    t.check(page.wait("!document.querySelector('.detail')"), "Escape closes the panel")


def keys(t, page):
    """What the list of keys promises besides."""
    focus = "document.activeElement.id"
    for key, place_of in (("n", "namespace"), ("r", "resources")):
        # A page that is drawn anew just then loses the focus, and its user presses the key again.
        for _ in range(3):
            page.press(key)
            there = page.wait(focus + " === '%s'" % place_of, 3)
            if there:
                break
        t.check(there, "'%s' goes to %s" % (key, place_of), page.evaluate(focus))
        page.press("Escape")
    page.press("?")
    t.check(page.wait("document.querySelector('dialog h2')?.textContent === 'Keys'"), "'?' lists the keys")
    page.evaluate("document.querySelector('dialog').close()")
    t.check("system:masters" in page.evaluate("document.querySelector('#user').title"), "the user's groups are told",
            page.evaluate("document.querySelector('#user').title"))
    place(page, resource=GROUP + "/flunders", namespace="default", object="default/first")
    page.wait("!!document.querySelector('.yaml')")
    page.evaluate("document.querySelector('#tab-yaml').focus()")
    page.press("ArrowRight")
    t.check(page.wait(focus + " === 'tab-owners'"), "arrows go through the tabs", page.evaluate(focus))
    page.press("Escape")
    page.wait("!document.querySelector('.detail')")


def creates(t, page, api):
    page.evaluate("[...document.querySelectorAll('.toolbar button')].find((b) => b.textContent === 'New').click()")
    page.wait("!!document.querySelector('textarea')")
    replace_text(page, 'name: ""', "name: made")
    text = page.evaluate("document.querySelector('textarea').value")
    replace_text(page, text, text + "spec:\n  referenceType: Fischer\n")
    page.press("Ctrl+s")
    t.check(page.wait("document.querySelector('.editor .problem')?.textContent.includes('cannot be empty')"),
            "what the strategy refuses is told", page.evaluate(TEXT % ".editor"))
    page.errors.clear()
    replace_text(page, "Type: Fischer", "Type: Flunder\n  flunderReference: x")
    page.press("Ctrl+s")
    t.check(page.wait("document.querySelector('.diff .added')?.textContent.includes('made') || "
                      "document.querySelector('.diff')?.textContent.includes('made')"), "a new object is checked",
            page.evaluate(TEXT % ".editor"))
    page.press("Enter")
    t.check(page.wait("document.querySelector('.detail h2')?.textContent === 'made' && "
                      "!!document.querySelector('.yaml')"), "created and opened", page.evaluate(TEXT % ".detail"))
    page.evaluate("[...document.querySelectorAll('.detail button')].find((b) => b.textContent === 'Delete').click()")
    page.evaluate("document.querySelector('dialog .danger').click()")
    t.check(page.wait("!document.querySelector('.detail')") and page.wait(ROWS + " === 1"), "and deleted")
    t.check(api.call("GET", FLUNDERS % "default" + "/made")[0] == 404, "on the server, too")


def runs_nothing(t, page, api):
    """Row 93 of docs/security.md: markup wherever an object may have it, and in addresses."""
    evil = flunder("evil", MARKUP, annotations={"note": MARKUP}, labels={"app": "evil"})
    api.call("POST", FLUNDERS % "default" + "?fieldManager=" + urllib.parse.quote(MARKUP), evil)
    place(page, resource=GROUP + "/flunders", namespace="default", object="default/evil")
    t.check(page.wait("document.querySelector('.yaml')?.textContent.includes('onerror')"), "markup is shown as text",
            page.evaluate(TEXT % ".detail"))
    page.evaluate("document.querySelector('#tab-owners').click()")
    t.check(page.wait("document.querySelector('.owners .chip')?.textContent.includes('onerror')"),
            "so is a manager's name", page.evaluate(TEXT % ".detail"))
    # Names of roles may have it.
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": MARKUP}}
    code, said = api.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
    t.check(code == 201, "a role is named so", said)
    place(page, resource="rbac.authorization.k8s.io/v1/clusterroles", object="/" + MARKUP)
    t.check(page.wait("document.querySelector('.grid-row.open')?.textContent.includes('onerror') && "
                      "document.querySelector('.yaml')?.textContent.includes('onerror')"),
            "so are names, in rows, titles and YAML", page.evaluate("document.body.textContent"))
    place(page, resource=GROUP + "/flunders", namespace=MARKUP, object="x/" + MARKUP, labels=MARKUP)
    page.wait("!!document.querySelector('.detail .problem')")
    t.check("onerror" in page.evaluate(TEXT % ".detail"), "an address with markup is an error that shows it",
            page.evaluate("document.body.textContent"))
    page.errors.clear()
    t.check(page.evaluate("window.pwned === undefined && document.querySelectorAll('img').length === 1"),
            "nothing of it becomes an element")
    # The policy itself holds, were the page's own code to fail: an inline handler, a foreign image, markup from text.
    before = len(page.violations())
    page.evaluate("""(() => {
      const node = document.createElement('b');
      window.refused = 0;
      try { node.innerHTML = '<i>x</i>'; } catch { window.refused++; }
      try { node.setAttribute('onclick', 'window.pwned = 2'); } catch { window.refused++; }
      node.click();
      new Image().src = 'https://example.invalid/x.png';
    })()""")
    t.check(page.evaluate("window.refused === 2 && window.pwned === undefined"), "the policy refuses markup and handlers",
            page.evaluate("[window.refused, window.pwned]"))
    t.check(page.wait("window.violations.length >= %d" % (before + 3)), "and reports both, and a foreign image",
            page.violations())
    page.evaluate("void (window.violations = [])")
    page.errors.clear()


def scrolls(t, page, server, rows):
    began = time.monotonic()
    created = create_many(server, rows)
    t.check(created == rows, "%d objects are created" % rows, created)
    print("created %d objects in %.1f s" % (rows, time.monotonic() - began))
    began = time.monotonic()
    place(page, resource=GROUP + "/flunders", namespace="many")
    t.check(page.wait(STATE + ".includes('%s objects · live')" % format(rows, ",")), "all rows are listed",
            page.evaluate(STATE))
    print("listed them in %.1f s" % (time.monotonic() - began))
    t.check(page.evaluate("document.querySelectorAll('.grid-row').length") < 100, "few of them have elements")
    # Sixty frames, each a screen and a half further. How often they come is up to a machine without a GPU, which has
    # other tests to run: what the page itself does for one is judged.
    before = page.work_seconds()
    frames = page.evaluate("""new Promise((resolve) => {
      const grid = document.querySelector('.grid');
      const times = [];
      let last = 0;
      let work = 0;
      const step = (now) => {
        if (last) times.push(now - last);
        last = now;
        if (times.length === 60) return resolve(times);
        grid.scrollTop += 1200;
        requestAnimationFrame(step);
      };
      requestAnimationFrame(step);
    })""")
    frames.sort()
    work = (page.work_seconds() - before) / 60 * 1000
    print("frames while scrolling: median %.1f ms, 95%% %.1f ms, of which the page works %.1f ms"
          % (frames[30], frames[56], work))
    t.check(work < 150, "the page's work for a frame is short: 6 ms where nothing else runs, 37 beside compilers", (work, frames))
    shown = page.evaluate("[...document.querySelectorAll('.grid-row:not([hidden])')].map((row) => row.dataset.index)")
    t.check(len(set(shown)) == len(shown) and min(map(int, shown)) > 1000, "and shows the rows that are there", shown)
    page.press("End")
    t.check(page.wait("document.querySelector('[aria-selected=true]')?.textContent.includes('row-%05d')" % (rows - 1)),
            "End goes to the last row", page.evaluate(TEXT % "[aria-selected=true]"))


def starts_over(t, page, api):
    """The server has forgotten the page's revision: it says so by an event, then by its answer, then not any more."""
    page.evaluate("""(() => {
      const fetched = window.fetch;
      const status = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 };
      const answer = (body, code) => new Response(JSON.stringify(body) + '\\n',
        { status: code, headers: { 'Content-Type': 'application/json' } });
      const answers = [answer({ type: 'ERROR', object: status }, 200), answer(status, 410)];
      window.asked = [];
      window.fetch = (url, options) => {
        if (!url.includes('/flunders')) return fetched(url, options);
        const watches = url.includes('watch=1');
        window.asked.push(watches ? 'watch' : 'list');
        return watches && answers.length ? Promise.resolve(answers.shift()) : fetched(url, options);
      };
    })()""")
    place(page, resource=GROUP + "/flunders", namespace="default", labels="app=web")
    t.check(page.wait("window.asked.length >= 6 && " + STATE + ".includes('1 object · live')"),
            "a list whose revision is gone is read again", page.evaluate("window.asked.join() + " + STATE))
    api.call("POST", FLUNDERS % "default", flunder("later", labels={"app": "web"}))
    t.check(page.wait(ROWS + " === 2"), "and followed", page.evaluate(TEXT % ".grid"))
    t.check(page.evaluate("window.asked.join()") == "list,watch,list,watch,list,watch", "with one request each",
            page.evaluate("window.asked.join()"))
    api.call("DELETE", FLUNDERS % "default" + "/later")


def connects_again(t, page, server, api):
    """A server that comes back, in memory, has forgotten the page's revision and its objects."""
    place(page, resource=GROUP + "/flunders", namespace="default")
    page.wait(STATE + ".includes('live')")
    server.stop(signal.SIGTERM)
    t.check(page.wait("!!document.querySelector('.state.waiting')"), "a lost connection is told", page.evaluate(STATE))
    server.start("--secure-port=" + api.url.rpartition(":")[2])
    fresh = Api(server)
    fresh.call("POST", FLUNDERS % "default", flunder("after"))
    t.check(page.wait("document.querySelector('.grid')?.textContent.includes('after') && " + STATE + ".includes('1 object · live')"),
            "and found again, with a new list", page.evaluate("document.body.textContent"))
    page.errors.clear()


def event(name, uid, reason, kind, message):
    about = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "told", "uid": uid}
    return {"apiVersion": "v1", "kind": "Event", "metadata": {"name": name}, "involvedObject": about, "reason": reason,
            "type": kind, "message": message, "count": 3, "source": {"component": "keeper"},
            "lastTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def tells_events(t, page, binary, folder):
    """The events of one object, on a server that serves them."""
    os.mkdir(folder)
    server = Server(binary, "memory", folder)
    server.start()
    try:
        api = Api(server)
        told = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "told"}, "data": {"a": "b"}}
        uid = api.call("POST", "/api/v1/namespaces/default/configmaps", told)[1]["metadata"]["uid"]
        for each in (event("told.1", uid, "Fed", "Normal", "ate two mice"),
                     event("told.2", uid, "Bitten", "Warning", MARKUP),
                     event("told.3", "of-another", "Lost", "Normal", "is elsewhere")):
            code, said = api.call("POST", "/api/v1/namespaces/default/events", each)
            t.check(code == 201, "an event is created", said)
        page.go(api.url + "/explorer/#token=" + api.token)
        page.wait("document.querySelector('#user')?.textContent === 'admin'")
        place(page, resource="/v1/configmaps", namespace="default", object="default/told", tab="events")
        shown = "document.querySelector('table.events')?.textContent ?? ''"
        t.check(page.wait("(%s).includes('ate two mice')" % shown), "the events of an object are shown",
                page.evaluate(TEXT % ".detail"))
        t.check(page.evaluate("document.querySelectorAll('table.events tbody tr').length") == 2, "and of no other",
                page.evaluate(shown))
        warned = page.evaluate("document.querySelector('table.events tr.warned')?.textContent ?? ''")
        t.check("Bitten" in warned and "keeper" in warned and "3" in warned, "warnings stand out, with source and count", warned)
        t.check("onerror" in warned and page.evaluate("window.pwned === undefined"), "markup in a message is text", warned)
        t.check(page.violations() == [], "no policy is violated", page.violations())
        t.check(page.errors == [], "the console has no errors", page.errors)
    finally:
        server.stop(signal.SIGKILL)


def pictures(page, folder):
    os.makedirs(folder, exist_ok=True)
    place(page, resource=GROUP + "/flunders", namespace="many", object="many/row-00003")
    page.wait("!!document.querySelector('.yaml')")
    for scheme in ("light", "dark"):
        page.prefer(scheme)
        time.sleep(0.6)  # Colours of rows fade.
        page.screenshot(os.path.join(folder, scheme + ".png"))
    page.prefer("light")


def modules(t, page):
    """Parts of the page that are plain functions."""
    def value(module, expression):
        return page.evaluate("import('/explorer/%s.js').then((m) => %s)" % (module, expression))

    text = ("metadata:\n  labels:\n    a/b: c\n  managedFields:\n  - manager: x\n    fieldsV1:\n      f:spec: {}\n"
            "  name: x\nspec:\n  ports:\n  - name: a\n    port: 1\n  - name: b\n    port: 2\n  last: 3\n")
    less = value("yaml", "m.withoutManagedFields(%s)" % json.dumps(text))
    t.check("manager" not in less and "  name: x\nspec:" in less, "managedFields are left out", less)
    for path, line in (("spec.ports[1].port", 13), ("spec.ports[0]", 10), ("spec.last", 14), ("metadata.labels[a/b]", 2),
                       ("spec.none", 8), ("none", -1), ("spec.ports[7].name", 9)):
        got = value("yaml", "m.lineOf(%s, %s)" % (json.dumps(text), json.dumps(path)))
        t.check(got == line, "the line of " + path, got)
    fields = {"f:spec": {"f:ports": {'k:{"port":1}': {".": {}, "f:name": {}}}, "f:set": {'v:"a"': {}}}, "f:a/b": {}}
    got = value("owners", "m.pathsOf(%s)" % json.dumps(fields))
    t.check(got == ["spec.ports[port=1]", "spec.ports[port=1].name", 'spec.set[="a"]', "[a/b]"], "paths of fields", got)
    got = value("diff", "m.diffLines('a\\nb\\nc\\nd', 'a\\nx\\nc\\nd\\ne').map((l) => l.sign + l.text)")
    t.check(got == [" a", "-b", "+x", " c", " d", "+e"], "a difference", got)
    ages = ((5, "5s"), (119, "119s"), (330, "5m30s"), (3 * 3600, "3h"), (27000, "7h30m"), (12 * 86400, "12d"),
            (800 * 86400, "2y70d"))
    for seconds, text in ages:
        got = value("text", "m.age(new Date(1e12).toISOString(), 1e12 + %d)" % (seconds * 1000))
        t.check(got == text, "the age " + text, got)


def themes(t, page):
    back = "getComputedStyle(document.body).backgroundColor"
    page.prefer("light")
    light = page.evaluate(back)
    page.prefer("dark")
    dark = page.evaluate(back)
    t.check(light != dark, "the theme follows the system", (light, dark))
    page.evaluate("document.querySelector('#theme').click()")
    t.check(page.evaluate(back) == light, "the switch overrides it")
    page.evaluate("document.querySelector('#theme').click()")
    page.prefer("light")
    t.check(page.evaluate(back) == dark, "both ways")
    page.evaluate("document.querySelector('#theme').click()")


def flags_in(binary, folder):
    return [binary, "--secure-port=0", "--storage=memory", "--data-dir=" + folder]


def tells_terminal(t, binary, folder):
    """A terminal is told the address with the token."""
    try:
        terminal, end = pty.openpty()
    except OSError:
        print("NOT CHECKED: what a terminal is told. There are none: /dev/pts is not mounted")
        return
    process = subprocess.Popen(flags_in(binary, folder), stdout=end, stderr=subprocess.DEVNULL)
    os.close(end)
    said = b""
    while b"#token=" not in said and select.select([terminal], [], [], 30)[0]:
        said += os.read(terminal, 4096)
    token = token_of(folder)
    t.check(re.search(r"https://127\.0\.0\.1:\d+/explorer/#token=" + re.escape(token), said.decode()),
            "a terminal is told the address with the token", said)
    process.terminate()
    process.wait(timeout=60)
    os.close(terminal)


def token_of(folder):
    with open(os.path.join(folder, "kubeconfig"), encoding="utf-8") as file:
        return re.search(r'token: "?([^"\n]+)', file.read()).group(1)


def tells_log(t, binary, folder):
    """A log is told the address without the token, which others may read there."""
    process = subprocess.Popen(flags_in(binary, folder), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    said = ""
    while "/explorer/" not in said:
        line = process.stdout.readline()
        if not line:
            break
        said += line
    process.terminate()
    said += process.communicate(timeout=60)[0]
    t.check("/explorer/\n" in said and token_of(folder) not in said, "a log is told the address alone", said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--cluster")
    parser.add_argument("--pictures")
    parser.add_argument("--rows", type=int, default=10000)
    args = parser.parse_args()
    t = Checker()
    with tempfile.TemporaryDirectory() as folder:
        tells_terminal(t, args.server, folder)
        tells_log(t, args.server, folder)
        os.remove(os.path.join(folder, "kubeconfig"))
        server = Server(args.server, "memory", folder)
        server.start()
        page = Page(folder)
        try:
            api = Api(server)
            signs_in(t, page, api)
            follows(t, page, api)
            edits(t, page, api)
            tabs(t, page)
            keys(t, page)
            creates(t, page, api)
            starts_over(t, page, api)
            modules(t, page)
            themes(t, page)
            scrolls(t, page, server, args.rows)
            if args.pictures:
                pictures(page, args.pictures)
            t.check(page.violations() == [], "the page violates no policy", page.violations())
            t.check(page.errors == [], "the console has no errors", page.errors)
            runs_nothing(t, page, Api(server))
            connects_again(t, page, server, api)
            if args.cluster:
                tells_events(t, page, args.cluster, os.path.join(folder, "cluster"))
        finally:
            page.close()
            if server.process.poll() is None:
                server.stop(signal.SIGKILL)
    print("%d checks, %d failed" % (t.checks, len(t.failures)))
    return 1 if t.failures else 0


if __name__ == "__main__":
    sys.exit(main())
