"""Messages as JSON lines: out of the memories of a resource, and into memories again."""
