"""The conformance suites of the store ports, for those who write a store of their own: begin at `store_contract`.

The test of an agent needs nothing of it: declare `persistence: {type: in_memory}`, pass `allow_in_memory=True` to
`MemoryPlugin`, and start Temporal with `durable_memory.dev.start_temporal`. A whole test stands in docs/python.md,
under "Testing your agent".
"""
