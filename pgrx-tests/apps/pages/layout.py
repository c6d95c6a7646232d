"""Checks the layout of pages in Chromium, at the width of a phone and of a desktop, in light and dark:
layout.py CHROMIUM PROFILE PAGE... prints a line per page and writes PAGE-WIDTH-SCHEME.png beside it.

Nothing is wider than the window, nothing is cut off, and no two labels of a plot overlap, with closed and with open details.
The card of each citation is inside the window. Chromium is driven over a pipe: the policy of a page does not apply to the debugger."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

WIDTHS = (390, 1200)
HEIGHT = 900
# The tallest picture. The rest of a longer page is not drawn.
TALLEST = 6000

# Returns the faults of the page as it is now. A tolerance of a pixel is for rounding.
MEASURE = """(() => {
    const faults = [], slack = 1, width = document.documentElement.clientWidth;
    const name = (e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') ?? ''}"> ${JSON.stringify((e.textContent ?? '').trim().slice(0, 40))}`;
    const visible = (e) => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
    if (document.documentElement.scrollWidth > width + slack) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
    for (const e of document.querySelectorAll('body *')) {
        if (!visible(e) || e.closest('title')) continue;
        const box = e.getBoundingClientRect();
        if (box.width > 0 && (box.left < -slack || box.right > width + slack)) faults.push(`${name(e)} is from ${box.left.toFixed(1)} to ${box.right.toFixed(1)}`);
        if (e instanceof HTMLElement && getComputedStyle(e).display !== 'inline' && e.scrollWidth > e.clientWidth + slack && e.clientWidth > 0) faults.push(`${name(e)} shows ${e.clientWidth} of ${e.scrollWidth}`);
    }
    for (const plot of document.querySelectorAll('svg.plot')) {
        if (!visible(plot)) continue;
        const all = plot.getBoundingClientRect(), labels = [...plot.querySelectorAll('text')].map((e) => [e.textContent, e.getBoundingClientRect()]);
        labels.forEach(([text, box], index) => {
            if (box.left < all.left - slack || box.right > all.right + slack || box.top < all.top - slack || box.bottom > all.bottom + slack) faults.push(`the label ${text} is cut off`);
            for (const [other, b] of labels.slice(index + 1))
                if (box.left < b.right && b.left < box.right && box.top < b.bottom && b.top < box.bottom) faults.push(`the labels ${text} and ${other} overlap`);
        });
    }
    return faults;
})()"""
OPEN = "document.querySelectorAll('details').forEach((e) => { e.open = true; })"
CARDS = """(() => {
    const faults = [], width = document.documentElement.clientWidth;
    for (const cite of document.querySelectorAll('.cite')) {
        if (!cite.checkVisibility()) continue;
        cite.focus();
        const card = cite.querySelector('.card'), box = card.getBoundingClientRect();
        if (box.width < 100 || box.left < -1 || box.right > width + 1) faults.push(`a card is from ${box.left.toFixed(1)} to ${box.right.toFixed(1)}`);
        if (card.scrollWidth > card.clientWidth + 1) faults.push(`a card shows ${card.clientWidth} of ${card.scrollWidth}`);
        cite.blur();
    }
    return faults;
})()"""


class Browser:
    """A headless Chromium that reads commands from descriptor 3 and writes events to descriptor 4, separated by NUL."""

    def __init__(self, program, profile):
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        # The shell gives the ends of the pipes the numbers that Chromium expects.
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(["bash", "-c", command, program, *options], pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.received, self.number, self.session = b"", 0, None
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        self.call("Page.enable")

    def message(self):
        while b"\0" not in self.received:
            part = os.read(self.into, 1 << 20)
            if not part:
                raise RuntimeError("chromium ended")
            self.received += part
        one, self.received = self.received.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        command = {"id": self.number, "method": method, "params": params} | ({"sessionId": self.session} if self.session else {})
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while (said := self.message()).get("id") != self.number:
            pass
        if "error" in said:
            raise RuntimeError(f"{method}: {said['error']}")
        return said["result"]

    def open(self, path):
        self.call("Page.navigate", url=path.absolute().as_uri())
        while self.message().get("method") != "Page.loadEventFired":
            pass

    def value(self, script):
        said = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in said:
            raise RuntimeError(said["exceptionDetails"])
        return said["result"].get("value")

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, width, path):
        tall = min(self.value("Math.ceil(document.documentElement.getBoundingClientRect().height)"), TALLEST)
        self.size(width, tall)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
        self.size(width, HEIGHT)

    def close(self):
        self.call("Browser.close")
        self.process.wait(timeout=60)


def look(browser, page):
    """Returns the faults of a page, and writes its pictures."""
    faults = []
    for width in WIDTHS:
        browser.size(width, HEIGHT)
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            browser.open(page)
            state = f"{page.stem}, {width} px, {scheme}"
            faults += [f"{state}: {fault}" for fault in browser.value(MEASURE)]
            browser.picture(width, page.with_name(f"{page.stem}-{width}-{scheme}.png"))
            browser.value(OPEN)
            faults += [f"{state}, open: {fault}" for fault in browser.value(MEASURE)]
            faults += [f"{state}: {fault}" for fault in browser.value(CARDS)]
    return faults


def main(program, profile, *pages):
    browser = Browser(program, profile)
    faults = [fault for page in pages for fault in look(browser, Path(page))]
    browser.close()
    for fault in faults:
        print(f"  {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
