"""What Gemini CLI and its kin share: how their calls end, what these change, and their parts."""
