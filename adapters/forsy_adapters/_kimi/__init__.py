"""What Kimi CLI and Kimi Code share: how they show a file."""
