"""SWE-agent and mini-swe-agent, whose logs are lists of chat messages too."""
