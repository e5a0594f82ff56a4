// Package crowd lets a crowd of simulated devices take part in a run with an open roster: a million
// ids on the memory bus, and one production coordinator with its log in a directory. The package
// shows that the coordinator's memory does not grow with devices or rounds, and how long a round
// takes if a thousand of a million devices answer.
//
//	r, err := crowd.Run(ctx, crowd.Config{Devices: 50_000, Target: 1000, Rounds: 100, Answer: 0.8,
//		Marks: []uint64{10, 100}, Dir: t.TempDir()})
//
// Each device joins with its own request. Then a generator computes for each announcement and every
// id, with [wire.Cohort.Has], whether the announcement asks that device. The generator sends a
// valid reply with random scalars for each asked device. No device evaluates a loss, keeps a model
// or has a connection. Command testing/cmd/crowd prints a result. The tests of other packages use
// [Members] too.
package crowd
