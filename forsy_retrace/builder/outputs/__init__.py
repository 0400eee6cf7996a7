"""What a call printed: how it says that it worked, failed, or was cut."""
