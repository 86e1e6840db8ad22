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
from functools import partial

from kafkatx.histories.logs.settings import Effective, Origin, said_value
from kafkatx.rules.settings.programs import Program
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import scope_of
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Bound, Phrase, RemedyWords, StepWords, remedy, step
from kafkatx.words.facts import lasting
from kafkatx.words.proposals import Remedies
from kafkatx.words.template import Text
from kafkatx.words.values import Count, Duration, JoinedValues, Refs

Effect = Callable[[Program], Bound[StepWords] | None]
"""What a wrong setting did here; None where nothing is seen."""


@dataclass(frozen=True, slots=True)
class InForce:
    """A setting as its owner calls it: `delivery.timeout.ms=120000 (2 min, the default)`; `{it:name}` is its name."""

    name: str
    value: str | None
    origin: Origin
    time: Duration | None

    def __format__(self, spec: str) -> str:
        return self.name if spec == "name" else f"{self.name}={said_value(self.value, self.origin, self.time)}"


@dataclass(frozen=True, slots=True)
class HeldSettings:
    """The settings that a check holds against each other, in its order."""

    first: InForce | None = None
    second: InForce | None = None
    third: InForce | None = None

    @property
    def all(self) -> JoinedValues[InForce]:
        """Those that there are."""
        return JoinedValues(one for one in (self.first, self.second, self.third) if one is not None)

    @property
    def assumed(self) -> JoinedValues[str]:
        """Names of those that nothing tells but a default."""
        return JoinedValues(one.name for one in self.all if one.origin not in (Origin.EXPLICIT, Origin.PRINTED))


@dataclass(frozen=True, slots=True)
class Seen:
    """What settings led to: whose it was, how long it took or how often it was, and the places that show it."""

    places: Refs = ()
    who: str | None = None
    took: Duration | None = None
    count: Count | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A setting to change, as its owner calls it; to nothing where it is to be left out."""

    config: str
    now: Effective
    proposed: int | str | None = None

    @property
    def is_proposed(self) -> bool:
        """Whether there is a value to propose."""
        return self.proposed is not None


@dataclass(frozen=True, slots=True)
class TimeOf:
    """What a proposal rests on: who (a program, an id, a setting) and its time."""

    who: str
    time: Duration


seen = partial(step, cites="places")
set_to = partial(remedy, config="{config}", current="{now:plain}", proposed="{proposed}", restart_needed=True)


def no_effect(_: Program) -> None:
    """Nothing that evidence could show."""


def no_remedy(_: Program) -> Remedies:
    """The text of the check says it all."""
    return ()


@dataclass(frozen=True, slots=True)
class Check:
    """One check. Its templates are over what it `reads`: `{held.first}` is the first setting of these.

    `says` goes on after "orders-1 has"; `leads_to` is a sentence, `led_to` the same where the effect was seen. `raised`
    is the severity with its effect, `untouched` the same where all are defaults; `effect_proves`: what was seen leaves
    no doubt, whatever the settings are.
    """

    name: str
    reads: tuple[str, ...]
    is_wrong: Callable[[Program], bool]
    title: Text
    says: Text
    leads_to: Text
    severity: Severity
    raised: Severity = Severity.error
    effect: Effect = no_effect
    remedies: Callable[[Program], Remedies] = no_remedy
    needs_effect: bool = False
    untouched: Severity = Severity.info
    effect_proves: bool = False
    led_to: Text | None = None


@dataclass(frozen=True, slots=True)
class Wrong:
    """A check that failed for a program."""

    check: Check
    program: Program
    verdict: Verdict
    severity: Severity
    effect: Bound[StepWords] | None

    @property
    def held(self) -> HeldSettings:
        """The settings that were held against each other."""
        called = self.program.advised.called
        found = [(called(name), self.program.get(name)) for name in self.check.reads]
        return HeldSettings(*(InForce(name, one.value, one.origin, lasting(one.time)) for name, one in found))

    @property
    def places(self) -> tuple[EvidenceRef, ...]:
        """Where they stand."""
        return tuple(place for name in self.check.reads if (place := self.program.place(name)))


def judge(check: Check, program: Program) -> Wrong | None:
    """Run a check; None where it is satisfied, or where only untouched defaults would fail it without an effect."""
    if not check.is_wrong(program):
        return None
    effect, chosen = check.effect(program), program.is_chosen(*check.reads)
    if effect is None and (check.needs_effect or not chosen):
        return None
    is_proved = effect is not None and check.effect_proves
    verdict = Verdict.proved if is_proved else _verdict(check, program)
    if effect is not None:
        return Wrong(check, program, verdict, check.raised if chosen else check.untouched, effect)
    most = Severity.warning if verdict is Verdict.possible else check.severity
    return Wrong(check, program, verdict, min(check.severity, most), None)


def _verdict(check: Check, program: Program) -> Verdict:
    """The least sure of the settings that it reads."""
    return min((_sureness(name, program.get(name)) for name in check.reads), default=Verdict.proved)


def _sureness(name: str, effective: Effective) -> Verdict:
    if effective.is_known:
        return Verdict.proved
    if scope_of(name) == "broker" or effective.origin is not Origin.DEFAULT:
        return Verdict.possible
    return Verdict.likely


def above(one: str, other: str) -> Callable[[Program], bool]:
    """Whether one setting is above another; unknown ones are not."""

    def is_above(program: Program) -> bool:
        first, second = program.number(one), program.number(other)
        return first is not None and second is not None and first > second

    return is_above


def proposal(
    phrase: Phrase[Fix, RemedyWords], setting: str, value: Callable[[Program], int | str]
) -> Callable[[Program], Remedies]:
    """A remedy that sets one setting to a value."""

    def propose(program: Program) -> Remedies:
        return (phrase.of(Fix(program.advised.called(setting), program.get(setting), value(program))),)

    return propose
