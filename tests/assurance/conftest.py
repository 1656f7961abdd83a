"""Finished runs of the small study, ready to be certified, and the accountants' numbers computed once."""

from tests.assurance.finished import _numbers_are_computed_once, copied, finished, released  # noqa: F401
from tests.tiny import tiny_folder, tiny_folders  # noqa: F401
