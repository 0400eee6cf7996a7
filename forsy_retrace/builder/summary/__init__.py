"""What a trace as a whole says, each part from the steps and the session's facts."""
