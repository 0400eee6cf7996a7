"""Which edits a test, linter or build looks at, as far as names and settings tell."""
