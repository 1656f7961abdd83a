"""The paper's published values, held to one another and to our own code, and set beside our results."""
