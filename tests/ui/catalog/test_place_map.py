import math
import re
from base64 import b64decode
from itertools import combinations
from xml.etree import ElementTree

import pytest

from domain import CatalogFilters, CatalogQuery
from tests.pages.places import place_hit
from ui.catalog.place_map import (
    HEIGHT,
    RADIUS,
    WIDTH,
    has_map,
    map_html,
    map_points,
    projection_of,
)
from ui.text import words

QUERY = CatalogQuery("?", "", CatalogFilters(desired_types=("italian_restaurant",)))
FAR = place_hit(9, "Far away", latitude=40.9, longitude=-74.2)


def positions(hits):
    """The pixels of each place, by card number."""
    known = [one for one in hits if has_map([one])]
    return {one.rank: (one.x, one.y) for one in map_points(hits, projection_of(known))}


def html_of(*hits):
    return map_html(hits, QUERY)


def picture(*hits):
    """The SVG image of the map, which is valid XML."""
    svg = b64decode(re.search(r"base64,([^\"]+)", html_of(*hits))[1]).decode()
    ElementTree.fromstring(svg)
    return svg


def test_the_best_place_is_drawn_on_top():
    svg = picture(place_hit(1, "Best"), place_hit(2, "Second"))
    assert re.findall(r'dy="0.36em">(\d)<', svg) == ["2", "1"]


def test_the_map_lists_its_districts_and_places_for_screen_readers():
    label = re.search(r' alt="([^"]*)"', html_of(place_hit(1, "Best"), FAR))[1]
    assert label.startswith(f"{words.PLACES_MAP} (")
    assert "Brooklyn" in label
    assert label.endswith(": 1 Best, 2 Far away")


def test_north_is_up_and_east_is_right():
    at = positions(
        [
            place_hit(1, "Here", latitude=40.7, longitude=-74.0),
            place_hit(2, "North", latitude=40.8, longitude=-74.0),
            place_hit(3, "East", latitude=40.7, longitude=-73.9),
        ]
    )
    assert at[2][1] < at[1][1]
    assert at[3][0] > at[1][0]


def test_distances_are_the_same_in_all_directions():
    north = {"latitude": 60.1, "longitude": 10.0}
    east = {"latitude": 60.0, "longitude": 10.0 + 0.1 / math.cos(math.radians(60))}
    here = place_hit(1, "Here", latitude=60.0, longitude=10.0)
    at = positions([here, place_hit(2, "North", **north), place_hit(3, "East", **east)])
    assert at[1][1] - at[2][1] == pytest.approx(at[3][0] - at[1][0], rel=0.01)


def test_all_points_are_on_the_map():
    spread = [
        place_hit(n, f"{n}", latitude=40 + n / 3, longitude=-74 - n * n / 5) for n in range(1, 9)
    ]
    for x, y in positions(spread).values():
        assert RADIUS <= x <= WIDTH - RADIUS
        assert RADIUS <= y <= HEIGHT - RADIUS


def test_places_at_one_address_are_drawn_next_to_each_other():
    here = {"latitude": 40.7, "longitude": -73.9}
    at = positions([*(place_hit(n, f"Place {n}", **here) for n in (1, 2)), FAR])
    assert at[2][0] - at[1][0] == pytest.approx(2 * RADIUS)
    assert at[1][1] == pytest.approx(at[2][1])


@pytest.mark.parametrize(
    ("latitude", "longitude", "count"),
    [(40.7, -73.9, 20), (40.7, -74.4, 20), (41.2, -74.4, 20), (40.2, -73.4, 20)],
)
def test_many_places_at_one_address_stay_apart_and_in_the_picture(latitude, longitude, count):
    here = {"latitude": latitude, "longitude": longitude}
    at = positions([*(place_hit(n, f"Place {n}", **here) for n in range(1, count + 1)), FAR])
    for x, y in at.values():
        assert RADIUS <= x <= WIDTH - RADIUS
        assert RADIUS <= y <= HEIGHT - RADIUS
    for one, other in combinations(at.values(), 2):
        assert math.dist(one, other) > 1.8 * RADIUS


def test_no_two_of_very_many_places_in_a_corner_coincide():
    here = {"latitude": 41.2, "longitude": -74.4}
    at = positions([*(place_hit(n, f"Place {n}", **here) for n in range(1, 51)), FAR])
    assert all(math.dist(one, other) > 1 for one, other in combinations(at.values(), 2))


def test_a_place_without_coordinates_keeps_its_number_and_is_not_on_the_map():
    lost = place_hit(1, "Lost", latitude=None, longitude=None)
    assert set(positions([lost, place_hit(2, "Known"), FAR])) == {2, 3}
    assert not has_map([lost])


def test_places_that_match_everything_are_filled():
    svg = picture(place_hit(1, "Italian"), place_hit(2, "Other", types=("bar",)))
    assert re.findall(r'<g class="(all|part)">.*?>(\d)<', svg) == [("part", "2"), ("all", "1")]


def test_the_scale_has_a_round_length():
    assert ">10 km</text>" in picture(place_hit(1, "Here"), FAR)
    assert re.search(r">[125]00 m</text>", picture(place_hit(1, "Only one")))


def test_districts_have_their_names():
    assert ">Brooklyn</text>" in picture(place_hit(1, "Here"), FAR)


def test_names_are_shown_as_text():
    html = html_of(place_hit(1, '"><script>alert(1)</script>'))
    assert "<script>" not in html


def test_the_sources_of_the_outlines_are_named():
    assert "New York City Department of City Planning" in html_of(place_hit(1, "Here"), FAR)
    abroad = place_hit(1, "Abroad", latitude=38.7, longitude=-9.14)
    assert words.MAP_CREDIT.format(sources="Natural Earth") in html_of(abroad)
