"""Case files of a policy: read with lines, judged, written from a log, and what none of them needs.

A case is one file, TOML or JSON: a plan or a run (`harness.cases`), or a session.
"""
