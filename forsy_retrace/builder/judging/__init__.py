"""What came of a step, and of the whole."""
