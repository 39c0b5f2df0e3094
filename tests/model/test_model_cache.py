"""What is computed from a model is computed once, kept with it, and left behind by its copies."""

import copy
import gc
import pickle
import weakref

import pytest

import featherweight as fw
from featherweight.model.cache import once_per_model

COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda model: pickle.loads(pickle.dumps(model))}


@pytest.mark.parametrize("way", COPIES)
def test_a_fact_is_found_once_for_each_model(way):
    asked = []

    @once_per_model
    def weight(model):
        """In newtons."""
        asked.append(model)
        return None if model.nb > 1 else model.weight

    model = fw.robots.pendulum()
    first = weight(model)
    assert first is weight(model)
    assert asked == [model]
    other = COPIES[way](model)
    assert not other.cache.facts
    assert weight(other) == first
    assert asked == [model, other]
    assert weight(fw.robots.chain(2)) is weight(fw.robots.chain(2)) is None
    assert (weight.__name__, weight.__doc__) == ("weight", "In newtons.")


def test_a_fact_that_cannot_be_found_is_asked_for_again():
    answers = [KeyError("not now"), 3]

    @once_per_model
    def number(model):
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    model = fw.robots.pendulum()
    with pytest.raises(KeyError, match="not now"):
        number(model)
    assert number(model) == number(model) == 3


def test_a_cache_does_not_keep_its_model_alive():
    model = fw.robots.chain(2)
    fw.mass_matrix(model, [0.1, 0.2])
    fw.forward_dynamics(model, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_what_is_computed_twice_is_the_same_object():
    model = fw.robots.mini_cheetah()
    assert model.over_floats is model.over_floats
    assert model.identity is model.identity
    assert model.cache.facts
