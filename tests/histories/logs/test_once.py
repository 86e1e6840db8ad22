import gc
from weakref import ref

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once


def test_a_fact_is_worked_out_once_for_each_story_and_goes_with_it():
    asked = []

    @once
    def fact(model: LogModel) -> int:
        asked.append(len(model.clients))
        return len(asked)

    one, other = LogModel(), LogModel()
    assert [fact(one), fact(other), fact(one)] == [1, 2, 1]
    gone = ref(one)
    del one
    gc.collect()
    assert gone() is None
