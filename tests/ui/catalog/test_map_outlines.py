import json

import pytest

from ui.catalog.map_outlines import FOLDER, Bounds, outlines_in

MANHATTAN = Bounds(-74.05, 40.68, -73.90, 40.88)
LISBON = Bounds(-9.6, 38.5, -8.9, 39.0)
WORLD = Bounds(-180, -90, 180, 90)


def is_inside(point, outlines):
    """Whether the point is inside an odd number of the outlines."""
    x, y = point
    crossings = 0
    for outline in outlines:
        for (x1, y1), (x2, y2) in zip(outline, [*outline[1:], outline[0]], strict=True):
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) / (y2 - y1) * (x2 - x1):
                crossings += 1
    return crossings % 2 == 1


def test_a_map_of_the_sample_city_has_its_districts_in_three_languages():
    districts = outlines_in(MANHATTAN).districts
    names = {one.names["en"]: one for one in districts}
    assert {"Manhattan", "Queens", "Brooklyn"} <= names.keys()
    assert all(one.names.keys() == {"en", "ko", "ja"} for one in districts)
    assert is_inside((-73.98, 40.76), names["Manhattan"].outlines)
    assert not is_inside((-73.98, 40.76), names["Brooklyn"].outlines)


@pytest.mark.parametrize(
    ("point", "is_land"),
    [
        ((-9.1, 38.9), True),
        ((-9.55, 38.6), False),
        ((135.3, 34.9), True),  # north of Osaka Bay
        ((135.2, 34.5), False),
        ((2.35, 48.85), True),
        ((-40.0, 30.0), False),
        ((179.0, 67.0), True),  # beyond the line at which longitudes begin again
    ],
)
def test_every_place_on_earth_is_on_land_or_at_sea(point, is_land):
    longitude, latitude = point
    view = Bounds(longitude - 0.3, latitude - 0.3, longitude + 0.3, latitude + 0.3)
    assert is_inside(point, outlines_in(view).land) is is_land
    assert is_inside(point, outlines_in(WORLD).land) is is_land


def test_outlines_are_cut_off_at_the_edges_of_the_map():
    points = [point for outline in outlines_in(LISBON).land for point in outline]
    assert points
    assert all(
        LISBON.west <= x <= LISBON.east and LISBON.south <= y <= LISBON.north for x, y in points
    )


def test_borders_between_countries_are_drawn():
    assert outlines_in(Bounds(5.0, 47.0, 9.0, 50.0)).borders


def test_the_data_names_its_sources_and_stays_small():
    files = sorted(FOLDER.glob("*.json"))
    assert sum(file.stat().st_size for file in files) < 300_000
    notice = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")
    for file in files:
        assert json.loads(file.read_text(encoding="utf-8"))["credit"]
        assert f"`{file.name}`" in notice
