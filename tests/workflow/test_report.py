"""The report as a reader meets it: built from a finished run, opened without a network and clicked through."""

import json
import shutil
import subprocess
import zipfile

import pytest
from checkout import REPOSITORY
from reported import marks
from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import element_to_be_clickable, visibility_of_element_located
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--window-size=1600,1000"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-proxy-server"),
    "--host-resolver-rules=MAP * ~NOTFOUND",  # no name has an address
)
REDRAWN = (StaleElementReferenceException, ElementClickInterceptedException)
LOCAL = ("file://", "data:", "blob:", "about:", "chrome://")


class Reader:
    """A browser and what a reader does in it."""

    def __init__(self, driver: webdriver.Chrome):
        self.driver = driver

    def until(self, condition):
        """Return what a condition holds for; it is tried again where the page was drawn anew meanwhile."""
        return WebDriverWait(self.driver, 120, ignored_exceptions=REDRAWN).until(condition)

    def click(self, path: str) -> None:
        def clicked(driver: webdriver.Chrome) -> bool:
            element = element_to_be_clickable((By.XPATH, path))(driver)
            if element:
                element.click()
            return bool(element)

        self.until(clicked)

    def home(self) -> None:
        self.click("//nav//ol/li[1]/a")

    def choose(self, *names: str) -> None:
        for name in names:
            self.click(f"//nav//li/a[normalize-space()='{name}']")

    def press(self, item: str, form: str, button: int) -> None:
        """Click the eye (1) or the i (2) in the row of an item."""
        row = f"//nav//tbody/tr[td[1]='{item}' and td[3]='{form}']"
        self.click(f"({row}/td[last()]//a)[{button}]")

    def text(self, path: str) -> str:
        def shown(driver: webdriver.Chrome) -> str:
            element = visibility_of_element_located((By.XPATH, path))(driver)
            return element.text if element else ""

        return self.until(shown)

    def caption(self) -> str:
        return self.text("//nav//li[contains(@class, 'prose')]")


@pytest.fixture
def browser(tmp_path):
    missing = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    if missing:
        pytest.skip(f"needs {', '.join(missing)} (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # The path is given, so that selenium looks for no driver to download.
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def requested(driver: webdriver.Chrome) -> set[str]:
    """Return the addresses that the pages asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}


@pytest.mark.slow
def test_a_reader_finds_table_1_and_a_figure_with_its_caption(finished, browser, tmp_path):
    finished.snakemake("--report", str(tmp_path / "report.zip"))
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        archive.extractall(tmp_path)
    browser.get((tmp_path / "report/report.html").as_uri())
    reader = Reader(browser)
    assert "n-Musketeers" in reader.text("//h1[contains(., 'Collaboration')]/..")

    reader.choose("Both papers", "Tables")
    reader.press("Table 1: accuracy", "HTML", 1)
    browser.switch_to.frame(reader.until(lambda driver: driver.find_element(By.TAG_NAME, "iframe")))
    assert reader.text("//tr[td='hidden_state' and td='accuracy']").split()[:2] == ["musketeers", "toy_sums"]
    browser.switch_to.default_content()
    reader.press("Table 1: accuracy", "HTML", 2)
    assert "toy_sums 100" in reader.caption()

    reader.home()
    reader.choose("n-Musketeers", "Figures")
    reader.press("Figure 4: attention", "PNG", 1)
    picture = reader.until(visibility_of_element_located((By.XPATH, "//img[contains(@src, 'figure4.png')]")))
    reader.until(lambda driver: driver.execute_script("return arguments[0].complete", picture))
    width, shown, box = browser.execute_script(
        "const box = arguments[0].getBoundingClientRect();"
        "return [arguments[0].naturalWidth, arguments[0].width, [box.left, box.top, box.right]]",
        picture,
    )
    assert 0 < shown <= width
    assert box[0] >= 0
    assert box[1] >= 0
    assert box[2] <= 1600
    reader.press("Figure 4: attention", "PNG", 2)
    caption = reader.caption()
    assert caption.startswith("Figure 4: do experts get roles?")
    assert "Seeds 0, 1 of hidden_state" in caption
    assert "The paper says." in caption

    faults = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert faults == []
    asked = requested(browser)
    assert any(address.endswith("figure4.png") for address in asked)
    assert [address for address in asked if not address.startswith(LOCAL)] == []


@pytest.mark.slow
def test_an_html_report_is_one_file_with_every_item(finished, tmp_path):
    finished.snakemake("--report", str(tmp_path / "report.html"))
    text = (tmp_path / "report.html").read_text("utf-8")
    shown, _ = json.JSONDecoder().raw_decode(text.rpartition("var results = ")[2])
    assert {"results/table1.html", "results/musketeers/claims.html", "results/musketeers/figure6b.png"} <= set(shown)
    assert all(result["data_uri"].startswith("data:") and result["caption"] for result in shown.values())


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["musketeers", "slices"])
def test_the_paper_grid_narrowed_to_one_paper_has_a_report_of_it(clone, tmp_path, paper):
    """Stand-ins for the results are enough to see what is marked, where its caption is, and for which paper."""
    for mark in marks("paper", tmp_path)[0]:
        file = clone.folder / mark.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("a stand-in\n")
    command = ["snakemake", "--profile", "slurm", "--sdm", "env-modules", "--report", str(tmp_path / "report.zip")]
    done = subprocess.run(
        [*command, "--config", f"papers=[{paper}]"],
        cwd=clone.folder,
        env=clone.environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        page = archive.read("report/report.html").decode("utf-8")
    categories = json.loads(page.split("var categories = ", 1)[1].split(";\n", 1)[0])
    assert set(categories) == {"Both papers", {"musketeers": "n-Musketeers", "slices": "Model slices"}[paper]}
    assert (REPOSITORY / "workflow/report/report.css").read_text("utf-8").strip() in page
