"""What every test shares: a strict mode, in which a test is skipped only for what CI cannot install; who runs what."""

import pytest

# A skip whose reason names one of these is allowed in strict mode; everything else has to run.
ALLOWED_SKIPS = ("GPU", "conda", "apptainer", "SLMCOLLAB_DATA")


def pytest_addoption(parser):
    parser.addoption("--strict-skips", action="store_true", help=f"fail on a skip for anything but {ALLOWED_SKIPS}")


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the marks
def pytest_collection_modifyitems(items):
    """One worker runs a file, or all tests that share the finished run; those of the workflow, the longest, begin."""
    for item in items:
        shared = "finished" if "finished" in item.fixturenames else item.path.stem
        item.add_marker(pytest.mark.xdist_group(shared))
    items.sort(key=lambda item: item.path.parent.name != "workflow")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and item.config.getoption("--strict-skips") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not any(word in reason for word in ALLOWED_SKIPS):
            report.outcome, report.longrepr = (
                "failed",
                f"skipped, but strict mode allows only {ALLOWED_SKIPS}: {reason}",
            )
    return report
