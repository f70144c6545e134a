"""A pytest plug-in: lists every skip, and fails the run if one has a reason that is not allowed."""

from __future__ import annotations

import pytest

ALLOWED = ("trained models", "gvsoc", "nvcc", "a GPU", "torch", "the networks of Deeploy", "PACK.xsd", "tflite-micro")


def allowed(reason: str) -> bool:
    """Whether the reason begins with one of the things that a machine may lack."""
    return reason.removeprefix("Skipped: ").startswith(ALLOWED)


def skips(reporter: pytest.TerminalReporter) -> dict[str, list[str]]:
    """Reason to the tests that it skipped."""
    tests_of: dict[str, list[str]] = {}
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        tests_of.setdefault(reason.removeprefix("Skipped: "), []).append(report.nodeid)
    return tests_of


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line per reason, before pytest's closing line."""
    tests_of = skips(terminalreporter)
    if tests_of:
        terminalreporter.section("skipped")
    for reason, tests in sorted(tests_of.items()):
        mark = "" if allowed(reason) else "  <- not an allowed reason: " + ", ".join(tests[:5])
        terminalreporter.write_line(f"{len(tests):4} x {reason}{mark}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A skip for any other reason is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if isinstance(reporter, pytest.TerminalReporter) and not all(map(allowed, skips(reporter))):
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
