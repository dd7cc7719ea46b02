"""Whether an Ed25519 signature is right (RFC 8032, section 5.1.7). Only checking: there is no secret here to keep from a clock."""

from __future__ import annotations

import hashlib

KEY_BYTES = 32
SIGNATURE_BYTES = 64

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)

_Point = tuple[int, int, int, int]  # extended coordinates: X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z
_NEUTRAL: _Point = (0, 1, 1, 0)


def is_signed(*, key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` is that of `message` under the public key `key`. Never raises for bytes."""
    if len(key) != KEY_BYTES or len(signature) != SIGNATURE_BYTES:
        return False
    public, commitment = _decoded(key), _decoded(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if public is None or commitment is None or scalar >= _ORDER:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _ORDER
    return _are_equal(_times(scalar, _BASE), _sum(commitment, _times(challenge, public)))


def _sum(one: _Point, other: _Point) -> _Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * one[3] * other[3] * _D % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _times(scalar: int, point: _Point) -> _Point:
    product = _NEUTRAL
    while scalar:
        if scalar & 1:
            product = _sum(product, point)
        point, scalar = _sum(point, point), scalar >> 1
    return product


def _are_equal(one: _Point, other: _Point) -> bool:
    return (one[0] * other[2] - other[0] * one[2]) % _P == 0 and (one[1] * other[2] - other[1] * one[2]) % _P == 0


def _decoded(encoded: bytes) -> _Point | None:
    """The point of 32 bytes; None where they are none, or not its only encoding."""
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= _P:
        return None
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


def _x_of(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    return _P - x if x & 1 != sign else x


_BASE_Y = 4 * pow(5, -1, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)
