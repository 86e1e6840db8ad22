"""Truth fuzz: evidence that somebody damaged, cut or mixed up, by seed, and what a diagnosis may say of it then.

    python -m tests.fuzz files --seeds 0:1000 --record FILE     mutated files, through every command
    python -m tests.fuzz directories --seeds 0:100              data directories that lost something
    python -m tests.fuzz texts --seeds 0:100                    dumps and logs under careless hands
    python -m tests.fuzz subsets --seeds 0:100000               parts of a case, each by its number
    python -m tests.fuzz exports --seeds 0:100                  exports that somebody changed
    python -m tests.fuzz texts --trial '{"case": ...}'          one trial, as a fault or a record names it
    python -m tests.fuzz known                                  every failure ever found and mended
    python -m tests.fuzz open                                   those that stand, with the reason in open_failures.txt

A seed is drawn into a *trial*, plain JSON that says all that is done (`random.Random(seed)`, sorted names, no hash). A
trial outlives changes of what seeds mean: so known_failures.txt holds trials. `--collection` draws among all recorded
cases at hand, not only those of the repository. `--record` appends what was tried, by the commit, and leaves out on
the next call what it has (`--again` doesn't).

Trials run inside one child process. What ends it (a crash, 20 s without an answer, more memory than 1.5 GB) is told
with the seed, and a new child goes on behind it. What must hold is said in `oracle.py`.
"""
