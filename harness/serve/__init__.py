"""The Critic as a service over HTTP, for programs in any language: what `critic serve` runs.

`harness.serve.app` is the ASGI application, `harness.serve.running` runs it on a socket.
"""
