"""Where a table or a figure comes from, down to the records, and what of that has changed since."""
