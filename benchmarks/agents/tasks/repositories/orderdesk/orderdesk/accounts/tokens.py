"""Links that let customers set a new password."""

import hashlib
import hmac

LIFETIME_S = 3600


def sign(email: str, issued_s: int, secret: bytes) -> str:
    """Return a token for a customer, valid for an hour."""
    message = f"{email}|{issued_s}".encode()
    digest = hmac.new(secret, message, hashlib.sha256).hexdigest()
    return f"{email}|{issued_s}|{digest}"


def verify(token: str, now_s: int, secret: bytes) -> str | None:
    """Return whose token it is, None if it is forged or too old."""
    email, issued, _ = token.rsplit("|", 2)
    if not hmac.compare_digest(sign(email, int(issued), secret), token):
        return None
    if now_s - int(issued) > LIFETIME_S:
        return None
    return email
