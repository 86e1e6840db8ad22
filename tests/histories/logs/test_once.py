import gc
from weakref import ref

from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.story import LogStory


def test_a_fact_is_worked_out_once_for_each_story_and_goes_with_it():
    asked = []

    @once
    def fact(story: LogStory) -> int:
        asked.append(len(story.clients))
        return len(asked)

    one, other = LogStory(), LogStory()
    assert [fact(one), fact(other), fact(one)] == [1, 2, 1]
    gone = ref(one)
    del one
    gc.collect()
    assert gone() is None
