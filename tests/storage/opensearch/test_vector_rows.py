import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storage.opensearch.vector_rows import json_floats

FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)


@given(arrays(np.float32, st.integers(1, 8), elements=FINITE))
def test_a_vector_is_unchanged_by_its_json(vector):
    read = np.array(json.loads(json.dumps(json_floats(vector))), np.float32)
    np.testing.assert_array_equal(read, vector)


def test_the_json_of_a_vector_has_as_few_digits_as_possible():
    assert json.dumps(json_floats(np.array([0.1, -0.25, 0.0], np.float32))) == "[0.1, -0.25, 0.0]"
