"""The conformance suites of the store ports, for those who write a store of their own: begin at `store_contract`.

Of this the test of an agent needs `activity_environment` alone, and no extra: docs/python.md has a whole test, under
"Testing your agent".
"""
