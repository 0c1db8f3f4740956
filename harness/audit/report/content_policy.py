"""The policy of a page that loads nothing, and applies its one style sheet and script. Pure."""

import base64
import hashlib


def content_policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy of a page with this style sheet and this script."""
    return (
        f"default-src 'none'; style-src {_hash_source(style)}; script-src {_hash_source(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash_source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
