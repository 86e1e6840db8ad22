"""What holds of every expired id: the expiration in force, the refusal, and who processes the input again."""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.terms.catalogue.frameworks import CONNECT, STREAMS, Framework
from kafkatx.terms.clocks import EXPIRATION_MS
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.template import pick

SETTING = "transactional.id.expiration.ms"
UNMAPPED = ErrorCode.INVALID_PRODUCER_ID_MAPPING


def expiration_of(model: CaptureModel) -> int:
    """transactional.id.expiration.ms as brokers say it, else the default."""
    limit = model.logs.settings.value("broker", SETTING)
    return limit.number if limit.is_known and limit.number is not None else EXPIRATION_MS


def restarted_by(model: CaptureModel, name: str, client: ClientInstance | None = None) -> Framework | None:
    """The framework that runs the producer for certain and reads its input again by itself."""
    framework = advised(model, name, client).framework
    if framework is None or framework.certainty is not Verdict.proved or framework.name not in STREAMS | CONNECT:
        return None
    return framework


AGAIN = pick(
    "restarts",
    {None: " the records of the failed transaction again if the application did not do so: they were not committed"},
    " nothing again by hand: {restarts.name} processes the input of the failed transaction again when it goes on",
)
