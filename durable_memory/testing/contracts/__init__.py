"""The conformance suites of the store ports, for those who write a store of their own: begin at `store_contract`."""
