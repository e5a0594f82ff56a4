// Package client is the device's side of a Zofl run: it joins over NATS, keeps
// a replica of the model, probes the app's loss along shared directions, and
// sends a few scalars a round.
//
// For most uses, give [New] a connection, the name of the run, an id of the
// device and an [Objective], call [Client.Run] on a goroutine of its own, and
// take the model from [Client.Params] at any time. A loss over a flat vector
// is [Func]; an engine that loads its weights block by block implements
// [Streaming] and never needs a second copy of the model.
//
// # Failure
//
// The app's callbacks run one at a time, each on a goroutine of its own. What
// they return, and what they do instead of returning (an error, NaN, a panic, a
// hang), ends at most that round's contribution: the device declines, so that
// nobody waits for it, and its [Recorder] is told why. A callback that hangs
// keeps the device out of the rounds until it returns.
//
// Being offline is no error: Run waits. It returns only what no waiting cures;
// see [Client.Run].
//
// # Memory
//
// In vectors of the model's size: the parameters, and each vector that the
// plan's rule replicates (momentum). Then, for a flat objective or one that
// evaluates, the vector that the app sees; for K > 1, the local iterate of the
// parameters and of the rule's vectors.
//
// # Determinism
//
// The parameters a device holds are those of package replica: the same bits as
// every other device of the run has after the same record. A device that finds
// out, from an announcement and the log, that it followed another log than the
// run's starts over from record 1.
package client
