"""The model against formulas from the literature, which it does not use.

Erlang C and the queue M/M/1: L. Kleinrock, "Queueing Systems, Volume 1: Theory", Wiley 1975,
sections 3.2 and 3.5; the machine repair model M/M/1//N: section 3.8.
"""

import math
import random
from statistics import fmean

import pytest

from benchmarks.scaling.figures import ServiceTime
from benchmarks.scaling.queues import (
    Arrival,
    Machine,
    arrivals,
    import_rate,
    percentiles,
    response_times,
)

QUESTIONS = 60_000
SEED = 7


def exponential(per_second, mean_s):
    """Questions as the formulas assume them."""
    drawn, at = random.Random(SEED), 0.0
    found = []
    for _ in range(QUESTIONS):
        at += drawn.expovariate(per_second)
        found.append(Arrival(at, drawn.expovariate(1 / mean_s)))
    return found


def erlang_c(servers, load):
    """The probability that a customer waits, for `load` Erlang."""
    waits = load**servers / math.factorial(servers) * servers / (servers - load)
    return waits / (sum(load**n / math.factorial(n) for n in range(servers)) + waits)


def machine_repair(machines, up_s, repair_s):
    """The rate of repairs by one repairer, from the probabilities of all states."""
    weights = [
        math.factorial(machines) / math.factorial(machines - n) * (repair_s / up_s) ** n
        for n in range(machines + 1)
    ]
    return (1 - weights[0] / sum(weights)) / repair_s


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_one_process_waits_as_long_as_the_formula_of_one_server(load):
    times = response_times(exponential(load, 1.0), Machine(1, 1), random.Random(SEED))
    assert fmean(times) == pytest.approx(1 / (1 - load), rel=0.06)


@pytest.mark.parametrize(("servers", "load"), [(2, 1.4), (4, 3.0), (8, 6.0)])
def test_processes_with_one_queue_wait_as_long_as_erlang_c(servers, load):
    machine = Machine(servers, servers, shared_queue=True)
    times = response_times(exponential(load, 1.0), machine, random.Random(SEED))
    expected = 1 + erlang_c(servers, load) / (servers - load)
    assert fmean(times) == pytest.approx(expected, rel=0.05)


def test_random_queues_wait_as_long_as_separate_servers():
    times = response_times(exponential(2.4, 1.0), Machine(4, 4), random.Random(SEED))
    assert fmean(times) == pytest.approx(1 / (1 - 0.6), rel=0.06)


def test_processes_that_share_a_core_take_as_long_as_they_have_to():
    both = [Arrival(0.0, 1.0), Arrival(0.0, 1.0)]
    shared = Machine(2, 1, shared_queue=True)
    assert response_times(both, shared, random.Random(SEED)) == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("workers", [1, 2, 5, 20])
def test_imports_are_as_fast_as_the_machine_repair_model(workers):
    expected = machine_repair(workers, 4.5, 0.8)
    assert import_rate(workers, 4.5, 0.8) == pytest.approx(expected)


def test_imports_are_never_faster_than_their_writes():
    assert import_rate(200, 4.5, 0.8) == pytest.approx(1 / 0.8)


def test_questions_arrive_and_last_as_described():
    time = ServiceTime("", 0.127, 0.171)
    requests = [*arrivals(QUESTIONS, 5.0, time, random.Random(SEED))]
    p50, p95 = percentiles([one.work for one in requests])
    assert requests[-1].at == pytest.approx(QUESTIONS / 5.0, rel=0.02)
    assert (p50, p95) == pytest.approx((0.127, 0.171), rel=0.02)
    assert fmean(one.work for one in requests) == pytest.approx(time.mean_s, rel=0.02)
