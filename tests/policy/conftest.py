"""The tiny random models."""

from tests.tiny import exact, family, tiny, tiny_folder, tiny_folders  # noqa: F401
