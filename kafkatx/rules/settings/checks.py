"""Settings held against each other: each check is a row of data (what is read, when it is wrong, what follows).

Verdict   proved where every setting it reads is known (set, or printed by the program), likely where one is a default,
          possible where the release that decides the default is unknown, or where the brokers' side is only assumed.
Severity  `severity` on its own, `raised` where the effect is seen; what `needs_effect` is silent without one, and no
          check speaks of defaults that nobody touched unless their effect is seen (then as info).
Source    ProducerConfig.postProcessAndValidateIdempotenceConfigs and configureDeliveryTimeout, TransactionStateManager,
          StreamsConfig.verifyEOSTransactionTimeoutCompatibility, rdkafka_conf.c; KIP-91, KIP-98, KIP-447, KIP-588,
          KIP-679, KIP-854, KIP-890, KIP-939.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kafkatx.histories.logs.settings import Effective, Origin
from kafkatx.rules.settings.cases import Case, broker_settings
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Place, Remedy

Effect = Callable[[Case], tuple[str, tuple[Place, ...]] | None]
"""What a wrong setting did here: a sentence and its places, None where nothing is seen."""


def no_effect(_: Case) -> None:
    """Nothing that evidence could show."""


def no_remedy(_: Case) -> tuple[Remedy, ...]:
    """The text of the check says it all."""
    return ()


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `says` and `because` may name settings of `reads` in braces by number: `{0}` is the first one.

    `raised` is the severity with its effect, `untouched` the same where all are defaults; `effect_proves`: what was
    seen leaves no doubt, whatever the settings are.
    """

    name: str
    reads: tuple[str, ...]
    is_wrong: Callable[[Case], bool]
    says: str
    because: str
    severity: Severity
    raised: Severity = Severity.error
    effect: Effect = no_effect
    remedies: Callable[[Case], tuple[Remedy, ...]] = no_remedy
    needs_effect: bool = False
    untouched: Severity = Severity.info
    effect_proves: bool = False


@dataclass(frozen=True, slots=True)
class Wrong:
    """A check that failed for a case."""

    check: Check
    case: Case
    verdict: Verdict
    severity: Severity
    text: str
    because: str
    places: tuple[Place, ...]
    effect: tuple[str, tuple[Place, ...]] | None


def judge(check: Check, case: Case) -> Wrong | None:
    """Run a check; None where it is satisfied, or where only untouched defaults would fail it without an effect."""
    if not check.is_wrong(case):
        return None
    effect = check.effect(case)
    chosen = case.is_chosen(*check.reads)
    if effect is None and (check.needs_effect or not chosen):
        return None
    found = [case.get(name) for name in check.reads]
    verdict = min((_verdict(name, one) for name, one in zip(check.reads, found, strict=True)), default=Verdict.proved)
    if effect is not None and check.effect_proves:
        verdict = Verdict.proved
    severity = check.severity if effect is None else check.raised if chosen else check.untouched
    if verdict is Verdict.possible and effect is None:
        severity = min(severity, Severity.warning)
    shown = [f"{case.advised.called(name)} {one}" for name, one in zip(check.reads, found, strict=True)]
    places = tuple(place for name in check.reads if (place := case.place(name)))
    return Wrong(
        check, case, verdict, severity, check.says.format(*shown), check.because.format(*shown), places, effect
    )


def _verdict(name: str, effective: Effective) -> Verdict:
    if effective.is_known:
        return Verdict.proved
    if name in broker_settings() or effective.origin is not Origin.DEFAULT:
        return Verdict.possible
    return Verdict.likely


def above(one: str, other: str) -> Callable[[Case], bool]:
    """Whether one setting is above another; unknown ones are not."""

    def is_above(case: Case) -> bool:
        first, second = case.number(one), case.number(other)
        return first is not None and second is not None and first > second

    return is_above


def proposal(
    setting: str, value: Callable[[Case], int | str], text: str, cost: str
) -> Callable[[Case], tuple[Remedy, ...]]:
    """A remedy that sets one setting to a value."""

    def propose(case: Case) -> tuple[Remedy, ...]:
        where = "broker" if setting in broker_settings() else "client"
        now = str(case.get(setting))
        called = case.advised.called(setting)
        return (Remedy(text, where, called, now, str(value(case)), None, None, cost or None, restart_needed=True),)

    return propose
