"""How large a JSON value may be before it is refused at a boundary."""

from attrs import field, frozen, validators


@frozen(kw_only=True)
class JsonLimits:
    """Bound nesting and numbers; the defaults are those of the flow language.

    - `depth_max`: how many arrays and objects may lie around a value. A scalar alone has depth 0, `[]` has depth 1.
    - `digits_max`: significant digits of a number, counted from its first to its last digit that isn't zero, so that
      `1200`, `1.2e3` and `1.200e3` have two.
    - `exponent_max`: bound, both ways, of the exponent that the number has in scientific notation, with one digit that
      isn't zero before the point: 2 for `123`, `12300e-2` and `1.23e2`, -3 for `0.0012`. Thus 10**100 and 1e-100 are
      within 100 and 10**101 and 1e-101 are beyond it, however they are written. A zero has the exponent it is written
      with: 0 for `0`, -2 for `0.00`, 7 for `0e7`.

    No digit may be written beyond the last place that these bounds can need, the 139th after the point by default;
    it stops a number whose value is small and whose zeros go on for ever.
    """

    # Beyond 200 the parser refuses by itself.
    depth_max: int = field(default=64, validator=[validators.ge(1), validators.le(200)])
    digits_max: int = field(default=40, validator=validators.ge(1))
    exponent_max: int = field(default=100, validator=[validators.ge(1), validators.le(1000)])


DEFAULT_LIMITS = JsonLimits()


def number_fault(coefficient: str, exponent: int, limits: JsonLimits) -> str | None:
    """Say which limit the number `coefficient` × 10**`exponent` breaks, or None.

    `coefficient` is a run of decimal digits without a sign; the work is linear in its length.
    """
    written = coefficient.lstrip("0") or "0"
    if len(written.rstrip("0")) > limits.digits_max:
        return f"A number has more than {limits.digits_max} significant digits."
    if abs(exponent + len(written) - 1) > limits.exponent_max:
        return exponent_fault(limits)
    if exponent < -(limits.exponent_max + limits.digits_max - 1):
        return "A number is written with too many zeros after its point."
    return None


def exponent_fault(limits: JsonLimits) -> str:
    return f"A number has an exponent beyond ±{limits.exponent_max}."
