"""What every test shares: a strict mode, in which a test is skipped only for what CI cannot install; who runs what."""

import pytest

# A skip whose reason names one of these is allowed in strict mode; everything else has to run.
ALLOWED_SKIPS = ("GPU", "conda", "apptainer", "SLMCOLLAB_DATA")


def pytest_addoption(parser):
    parser.addoption("--strict-skips", action="store_true", help=f"fail on a skip for anything but {ALLOWED_SKIPS}")


def pytest_collection_modifyitems(items):
    """Files of the workflow, the longest, begin; among them those that share the finished run come last."""
    shared = {item.path for item in items if "finished" in item.fixturenames}
    items.sort(key=lambda item: (item.path.parent.name != "workflow", item.path in shared))


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
