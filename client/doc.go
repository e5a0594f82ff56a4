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
// The app's callbacks run one at a time on one goroutine. What they return,
// and what they do instead of returning (an error, NaN, a panic, a hang), ends
// at most that round's contribution. Being offline is no error: Run waits.
//
// # Determinism
//
// The parameters a device holds are those of package replica: the same bits as
// every other device of the run has after the same record.
package client
