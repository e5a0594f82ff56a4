"""The key from which a run's directions derive: section 5 of docs/wire.md, "Run key"."""

from __future__ import annotations

import hashlib
import hmac

from .errors import LogError
from .plan import Plan


def run_key(plan: Plan, secret: bytes | None) -> bytes:
    """The run key of a plan; of a private one by the app's secret."""
    if not plan.key_check:
        return bytes(plan.run_key)
    if secret is None:
        raise LogError("the run is private: give its secret")
    key, check = derive(plan.run, plan.key_scheme, secret)
    if not hmac.compare_digest(check, plan.key_check):
        raise LogError("the secret is not that of the run: key_check differs")
    return key


def derive(run: str, scheme: str, secret: bytes) -> tuple[bytes, bytes]:
    """The key of a secret, and its check."""
    if scheme == "secret":
        return secret, hmac.new(secret, b"zofl/1 run key\0", hashlib.sha256).digest()
    return (_hkdf(secret, b"zofl/2 directions\0" + run.encode()),
            _hkdf(secret, b"zofl/2 key check\0" + run.encode()))


def _hkdf(secret: bytes, info: bytes) -> bytes:
    """RFC 5869 with SHA-256, no salt, 32 bytes."""
    pseudo = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(pseudo, info + b"\1", hashlib.sha256).digest()
