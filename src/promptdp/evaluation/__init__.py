"""Predictions on evaluation problems and their scores."""
