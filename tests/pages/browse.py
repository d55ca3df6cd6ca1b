#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""browse.py FOLDER [--axe AXE.js] [--screenshots FOLDER]: opens the built pages from file:// in headless Chromium, as a reader would.

Every page, in light and in dark, at desktop and at phone width: no message on the console, no request but to files, nothing that makes the page scroll sideways, and no serious finding
of axe, the accessibility checker, where its script is given. And what one clicks: navigation, search, quiz, the filter of the ledger.

Exit status 0; 1 with a line for each fault; 77 where Selenium, Chromium or its driver are not installed (ctest says skipped).
"""

import argparse
import json
import sys
import time
from pathlib import Path

SKIPPED = 77
try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    print("skipped: Selenium is not installed for this Python (./setup.sh --browser)")
    sys.exit(SKIPPED)

faults = []


def fault(text):
    faults.append(text)
    print(text, flush=True)


def start():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver_at = next((path for path in ("/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver") if Path(path).exists()), None)
    if driver_at is None or not any(Path(path).exists() for path in ("/usr/bin/chromium", "/usr/bin/google-chrome")):
        print("skipped: there is no Chromium with its driver (./setup.sh --browser)")
        sys.exit(SKIPPED)
    from selenium.webdriver.chrome.service import Service

    return webdriver.Chrome(service=Service(driver_at), options=options)


def heard(driver, where):
    """What the browser logged since it was asked last: nothing may stand on the console, nothing be asked of another host."""
    for entry in driver.get_log("browser"):
        fault(f"{where}: console: {entry['message']}")
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "about:", "blob:")):
                fault(f"{where}: asks for {url}")


def set_scheme(driver, scheme):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}]})
    # Colours that fade would be measured half-way.
    driver.execute_script("for (const a of document.getAnimations()) a.finish();")


def set_width(driver, width, height=900):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


RUN_AXE = """
const [exclude, what, done] = arguments;
axe.run({exclude: exclude}, what).then((result) => done(result.violations), (error) => done([{id: String(error), impact: "critical", nodes: []}]));
"""


def run_axe(driver, axe, where, whole, only=()):
    driver.execute_script(axe)
    what = {"resultTypes": ["violations"], "preload": False}
    if only:
        what["runOnly"] = {"type": "rule", "values": list(only)}
    found = driver.execute_async_script(RUN_AXE, [] if whole else [[".katex"], ["pre"]], what)
    for violation in found:
        if violation["impact"] in ("serious", "critical"):
            places = [f"{' '.join(map(str, node['target']))}: {node.get('failureSummary', '')}" for node in violation["nodes"]]
            fault(f"{where}: axe: {violation['id']} at {len(places)} places, first {places[0] if places else ''}")


def open_all(driver, folder, pattern, axe):
    pages = sorted(folder.rglob(pattern))
    for page in pages:
        name = str(page.relative_to(folder))
        set_width(driver, 1280)
        set_scheme(driver, "light")
        driver.get(page.as_uri())
        heard(driver, name)
        if axe:
            # Code and formulas are thousands of elements, alike on all pages; axe would take minutes for them. One page stands for all.
            whole = name == "softmax.html"
            run_axe(driver, axe, f"{name}, light", whole)
            set_scheme(driver, "dark")
            run_axe(driver, axe, f"{name}, dark", whole, only=["color-contrast"])
        set_width(driver, 390)
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        if wide > 390:
            fault(f"{name}: scrolls sideways at a width of 390: {wide} pixels")
        heard(driver, name)
    set_width(driver, 1280)
    set_scheme(driver, "light")
    return len(pages)


def wait_for(driver, what, condition):
    try:
        return WebDriverWait(driver, 15).until(condition)
    except WebDriverException:
        fault(f"waited in vain for {what}")
        return None


def navigate(driver, folder):
    driver.get((folder / "index.html").as_uri())
    links = len(driver.find_elements(By.CSS_SELECTOR, ".sidebar-tree a"))
    if links < 30:
        fault(f"index.html: the navigation has {links} links only")
    driver.find_element(By.CSS_SELECTOR, '.sidebar-tree a[href="softmax.html"]').click()
    wait_for(driver, "the page of softmax", lambda d: d.current_url.endswith("/softmax.html"))
    if not driver.find_elements(By.CSS_SELECTOR, ".katex math"):
        fault("softmax.html: no formula with MathML")
    heard(driver, "navigation")


def search(driver, folder):
    driver.get((folder / "index.html").as_uri())
    box = driver.find_element(By.CSS_SELECTOR, "input.sidebar-search")
    box.send_keys("bottom-right")
    box.send_keys(Keys.ENTER)
    wait_for(driver, "results of a search", lambda d: d.find_elements(By.CSS_SELECTOR, "#search-results ul.search li a"))
    results = driver.find_elements(By.CSS_SELECTOR, "#search-results ul.search li a")
    if results:
        results[0].click()
        wait_for(driver, "the page of a result", lambda d: "search.html" not in d.current_url)
    heard(driver, "search")


def quiz(driver, folder):
    driver.get((folder / "lectures" / "math_foundations.html").as_uri())
    forms = driver.find_elements(By.CSS_SELECTOR, "form.quiz")
    if len(forms) < 4:
        fault(f"lectures/math_foundations.html: {len(forms)} quick checks, expected 4")
    for form in forms:
        told = form.find_element(By.TAG_NAME, "output")
        for choice in form.find_elements(By.TAG_NAME, "input"):
            driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", choice)
            choice.click()
            right = choice.get_attribute("data-right") == "true"
            if told.text.startswith("✓") != right or not told.text:
                fault(f"quiz: {form.find_element(By.TAG_NAME, 'legend').text}: says {told.text!r}")
    heard(driver, "quiz")


def shown(driver):
    return [row.get_attribute("id") for row in driver.find_elements(By.CSS_SELECTOR, "table.ledger tbody tr") if row.is_displayed()]


def ledger(driver, folder):
    page = (folder / "ledger.html").as_uri()
    driver.get(page)
    every = driver.find_elements(By.CSS_SELECTOR, "table.ledger tbody tr")
    count = driver.find_element(By.CSS_SELECTOR, ".ledger-filter output")
    if len(every) != 256 or count.text != "256 of 256 claims":
        fault(f"ledger.html: {len(every)} claims, says {count.text!r}")
    Select(driver.find_element(By.CSS_SELECTOR, '[data-filter="text"]')).select_by_visible_text("wrong")
    Select(driver.find_element(By.CSS_SELECTOR, '[data-filter="document"]')).select_by_visible_text("E")
    left = shown(driver)
    words = {row.find_element(By.CSS_SELECTOR, ".verdict").text for row in every if row.is_displayed()}
    if not left or any(not name.startswith("E") for name in left) or words != {"✗ wrong"} or count.text != f"{len(left)} of 256 claims":
        fault(f"ledger.html: filtered for wrong claims of E, shows {left}, {words}, says {count.text!r}")
    driver.find_element(By.CSS_SELECTOR, '[data-filter="words"]').send_keys("0.66975 α_11")
    if shown(driver) != ["E016"]:
        fault(f"ledger.html: filtered for words, shows {shown(driver)}")
    driver.execute_script("location.hash = '#A047'")
    wait_for(driver, "the claim A047", lambda d: d.find_element(By.CSS_SELECTOR, "#A047 details").get_attribute("open"))
    if len(shown(driver)) != 256:
        fault("ledger.html: a link to a claim that is filtered away does not lift the filter")
    heard(driver, "ledger")
    # Every claim can be reached from another page.
    linked = set()
    for other in folder.rglob("*.html"):
        text = other.read_text(encoding="utf-8")
        if other.name != "ledger.html":
            linked |= {part[:4] for part in text.split("ledger.html#")[1:]}
    missing = sorted({row.get_attribute("id") for row in every} - linked)
    if missing:
        fault(f"no page links to {' '.join(missing)}")


def take_pictures(driver, folder, target):
    target.mkdir(parents=True, exist_ok=True)
    for name in ("index", "softmax", "attention", "ledger", "errata", "lectures/exercises", "guides/pytorch"):
        for scheme in ("light", "dark"):
            for width in (1280, 390):
                set_scheme(driver, scheme)
                set_width(driver, width, 2000)
                driver.get((folder / f"{name}.html").as_uri())
                time.sleep(0.3)
                driver.save_screenshot(str(target / f"{name.replace('/', '-')}-{scheme}-{width}.png"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--axe", type=Path, help="axe.min.js")
    parser.add_argument("--pages", default="*.html", help="a pattern: open only those")
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    axe = arguments.axe.read_text(encoding="utf-8") if arguments.axe else None
    driver = start()
    try:
        driver.set_script_timeout(600)
        pages = open_all(driver, folder, arguments.pages, axe)
        for part in (navigate, search, quiz, ledger):
            part(driver, folder)
        if arguments.screenshots:
            take_pictures(driver, folder, arguments.screenshots)
    finally:
        driver.quit()
    print(f"{pages} pages opened, {'with' if axe else 'WITHOUT (no axe.min.js: ./setup.sh --browser)'} axe: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
