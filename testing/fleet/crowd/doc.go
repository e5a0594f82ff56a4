// Package crowd lets a crowd of simulated devices take part in a run with an open roster: a
// million ids on the memory bus, and one production coordinator with its log in a directory.
// It shows that the coordinator's memory does not grow with devices or rounds, and how long a
// round takes that a thousand of a million devices answer.
//
//	r, err := crowd.Run(ctx, crowd.Config{Devices: 50_000, Target: 1000, Rounds: 100, Answer: 0.8,
//		Marks: []uint64{10, 100}, Dir: t.TempDir()})
//
// Each device joins by a request of its own. For each announcement a generator then computes
// with [wire.Cohort.Has], for every id, whether that device is asked, and sends a valid reply
// with random scalars for those that are. No device evaluates a loss, keeps a model or has a
// connection. Command testing/cmd/crowd prints a result. [Members] join and answer in other tests'
// runs too.
package crowd
