"""The tiny random models."""

from tests.tiny import exact, family, tiny, tiny_folder  # noqa: F401
