"""Which earlier call a call attempts again."""
