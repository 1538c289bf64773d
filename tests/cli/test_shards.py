"""Shares of a run, computed apart, give the same bytes as one run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.cli.support import NULL, PAIR, READING, SMALL, contents, invoke, listed

ASK = ["run", *PAIR, "--k", "2:3", *READING, *SMALL, *NULL, "--resamples", "5"]


def share(number, of=2, *further, **options):
    return invoke(*ASK, "--out", "out", "--shard", f"{number}/{of}", *further, **options)


def test_merged_shards_give_the_same_bytes_as_one_run(folder):
    invoke(*ASK, "--out", "whole")
    said = [share(number).stderr for number in (1, 2)]
    assert said[1].endswith("Shard 2 of 2 is in out-2-of-2, for `clustrep merge`.\n")
    assert listed(folder / "out-1-of-2") == ["SHA256SUMS", "config.toml"]
    done = invoke("merge", "out-1-of-2", "out-2-of-2", "--out", "out", "--jobs", "1")
    assert "replicability: 5 of 5 resamples were done." in done.stderr
    assert contents(folder / "out") == contents(folder / "whole")


def test_shards_over_whole_numbers_of_a_resolution(folder):
    """The configuration that they are merged by has the values as they were."""
    over = ["--clusterer", "leiden:n_neighbors=8", "--resolution", "1:2", "--null", "none", "--resamples", "2"]
    ask = ["run", *PAIR, *READING, "--figures", "none", "--jobs", "1", *over]
    invoke(*ask, "--out", "whole")
    invoke(*ask, "--out", "out", "--shard", "1/2")
    invoke("merge", "out-1-of-2", "--out", "out", "--jobs", "1")
    assert contents(folder / "out") == contents(folder / "whole")


def test_a_missing_shard_is_computed_by_the_merge(folder):
    invoke(*ASK, "--out", "whole")
    share(1)
    done = invoke("merge", "out-1-of-2", "--out", "out", "--jobs", "1")
    assert "replicability: 3 of 5 resamples were done." in done.stderr
    assert contents(folder / "out") == contents(folder / "whole")


FAILING = ["--k", "6", "--clusterer", "kmeans:n_init=1", "--resamples", "4", "--seed", "4", "--allow-failures", *NULL]


def test_a_shard_whose_resamples_all_fail_keeps_their_failures(folder):
    """Six clusters in resamples of eight samples: the first and the third resample have fewer distinct samples."""
    rng = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        pd.DataFrame(rng.normal(size=(8, 2)).round(3), columns=["x", "y"]).to_csv(folder / name, index=False)
    ask = ["run", "a.csv", "b.csv", *FAILING, "--figures", "none", "--jobs", "1"]
    invoke(*ask, "--out", "whole")
    said = [invoke(*ask, "--out", "out", "--shard", f"{number}/2").stderr for number in (1, 2)]
    assert "16 scores of 24 failed and were omitted" in said[0]
    done = invoke("merge", "out-1-of-2", "out-2-of-2", "--out", "out", "--jobs", "1", "--allow-failures")
    assert "replicability: 4 of 4 resamples were done." in done.stderr
    assert "null model: 19 of 19 simulated data sets were done." in done.stderr
    assert contents(folder / "out") == contents(folder / "whole")


def test_shards_of_different_runs_are_refused(folder):
    share(1)
    share(2, 2, "--seed", "3")
    done = invoke("merge", "out-1-of-2", "out-2-of-2", "--out", "out", code=3)
    assert "are of different runs: seed is 3, was 0." in done.stderr
    assert not (folder / "out").exists()


def test_a_folder_without_a_shard_is_refused(folder):
    (folder / "empty").mkdir()
    done = invoke("merge", "empty", "--out", "out", code=3)
    assert done.stderr == "error: empty holds no shard of a run: name the folders that `--shard` wrote.\n"


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "-1/2", "1/0"])
def test_a_share_that_is_none_is_refused(folder, text):
    assert "is no share of a run: write 3/10" in invoke(*ASK, "--out", "out", "--shard", text, code=2).stderr


def test_more_shares_than_replicates_are_refused(folder):
    done = share(1, 6, code=2)
    assert "--shard must have at most as many shares as there are replicates, 5, got 6." in done.stderr
