#!/bin/sh
# Snakemake drops PYTHONPATH inside conda environments, so the package itself is installed there.
pip install --no-deps --editable .
