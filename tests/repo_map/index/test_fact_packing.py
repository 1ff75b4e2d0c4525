"""Facts take few bytes in an index, and come back as they were."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from repo_map.index import fact_packing
from repo_map.index.fact_packing import FactRows, Lists, pack, unpack

_ROW = st.tuples(
    st.integers(0, 300),
    st.integers(0, 20_000),
    st.integers(-1, 30_000),
    st.integers(1, 2_000_000),
    st.integers(0, 60),
    st.integers(0, 255),
)
_FILES = st.lists(
    st.lists(_ROW, max_size=12).map(lambda rows: sorted(rows, key=lambda row: row[3])), max_size=6
)


def _offsets(counts: list[int]) -> np.ndarray:
    return np.concatenate(([0], np.cumsum(counts))).astype(np.int64)


@given(files=_FILES, block=st.sampled_from([1, 40, 1 << 20]))
def test_rows_come_back_with_the_names_and_texts_of_their_file(
    files: list[list[tuple[int, ...]]], block: int
) -> None:
    rows = [row for file in files for row in file]
    columns = [np.array([row[at] for row in rows], np.int32) for at in range(6)]
    names = Lists(_offsets([301] * len(files)), np.arange(301 * len(files), dtype=np.int32)[::-1])
    texts = Lists(_offsets([20_001] * len(files)), np.arange(20_001 * len(files), dtype=np.int32))
    start = _offsets([len(file) for file in files])
    usual, fact_packing._BLOCK_BYTES = fact_packing._BLOCK_BYTES, block
    try:
        back = unpack(pack(FactRows(start, *columns)), names, texts)
    finally:
        fact_packing._BLOCK_BYTES = usual
    assert back.file_start.tolist() == start.tolist()
    file_of = np.repeat(np.arange(len(files)), [len(file) for file in files])
    assert back.name.tolist() == names.ids[columns[0] + 301 * file_of].tolist()
    assert back.text.tolist() == texts.ids[columns[1] + 20_001 * file_of].tolist()
    for column, kept in zip(columns[2:], back[3:], strict=True):
        assert column.tolist() == kept.tolist()
