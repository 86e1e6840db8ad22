"""A model of Kafka's transaction coordinator and its producers: legal clusters as bytes, and what is true of them.

What each module is: `clockwork` runs processes in order of time; `cluster` holds brokers with clocks of their own, and
partitions; `coordinator` is the state machine of KIP-98, KIP-360, KIP-588 and KIP-890; `producers` are applications
that commit, abort, crash, freeze and start twice; `faults` break what is legal, and say which rule must tell it;
`scenarios` make a cluster of a number; `copies` take evidence of it as data directories; `truth` is what was done, and
`judging` holds what kafkatx says against it.

`python -m tests.simulated --seeds 0:5000` runs a range and counts; `test_simulated` runs some of them.
"""
