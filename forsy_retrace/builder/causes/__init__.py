"""Where the values in a call's arguments came from."""
