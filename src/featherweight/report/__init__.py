"""What a run was like: a summary in numbers, and a page with plots and a moving picture."""

from featherweight.report.page import write_report
from featherweight.report.summary import Line, summary

__all__ = ["Line", "summary", "write_report"]
