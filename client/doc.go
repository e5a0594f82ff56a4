// Package client is a device's side of a Zofl run. The client joins the run over NATS, keeps a
// replica of the model, and evaluates the app's loss along shared directions. Each round the client
// sends a few scalars.
//
// For most uses, give [New] a connection, the run's name, an id for the device and an
// [objective.Objective]. Then call [Client.Run] on a goroutine of its own, and take the model from
// [Client.Params] at any time. Set [Config].Logger or [Config].Recorder to see what Run does. An
// objective takes one of three forms:
//
//   - [objective.Func] is a loss over a flat vector.
//   - [objective.Streaming] is for an engine that loads its weights block by block. The client then
//     needs no second copy of the model.
//   - [objective.Batched] is for an engine that can hold a block of many models at a time. The
//     engine reads each weight once a step, for all these models.
//
// If the app can differentiate its loss, the objective may also implement
// [objective.Differentiable], [objective.Directional] or [objective.StreamingDirectional]. A device
// with such an objective sends the same scalars as a device that only evaluates the loss, so both
// kinds can join one run. With Differentiable, the device computes one gradient for each local
// step. With Directional or StreamingDirectional, the device computes one slope for each direction.
//
// # Failure
//
// A callback that fails costs the device one round. The client calls the app's callbacks one at a
// time, on a goroutine of their own. If a callback returns an error or NaN, panics or hangs, the
// device declines the round and tells its [Recorder] why. So the coordinator need not wait for the
// device. While a callback hangs, the device declines every round.
//
// Being offline is no error: Run waits until the network is back. Run returns only errors that
// waiting does not cure. On a bad network, connect with [ConnectOptions].
//
// # What survives
//
// With a [Store], you may kill the process at any moment. The client saves:
//
//   - the replica's state, every 64 records or 5 minutes, and when Run ends;
//   - each reply or vector before the client sends it, so that a device that restarts within the
//     round sends the same bytes;
//   - what later rounds need: the device's last contributions with scaffold-2, and the losses that
//     the device measured with a surrogate.
//
// The client sets aside a stored item that is torn or damaged, or belongs to another run, model or
// log. The client reports such an item, and replays the log instead. If the store fails, the client
// reports the failure once and goes on in memory.
//
// A device that was away fetches the records that it missed, a batch at a time, and replays them.
// The alternative is to download a snapshot from a passive replica and replay the records after the
// snapshot. The device chooses the cheaper way by the bytes and seconds that it measured, or
// follows [Config].Horizon. The device accepts only a snapshot of the run's log. The device trusts
// the snapshot's numbers only when its digest of a later state equals the run's reference digest.
// If a digest disagrees, or the run ends before a digest came, the client replays the log. Digests
// cover vectors only. Digests do not prove the plan's current mu, batch size and limits, although
// the client takes these numbers from the snapshot. So let only the passive replica publish answers
// on zo.<run>.s.*, or pin the coordinator's key with [Config].Coordinator. With the key, the client
// accepts only a snapshot whose digest the coordinator confirms, and takes the plan from the
// coordinator.
//
// A device whose digest differs from the run's reference reports [ErrDiverged] and rebuilds its
// state, from its checkpoint or from record 1. The device rebuilds at most once in 8 times
// DigestEvery records, so that false references cannot keep the device busy.
//
// # Methods
//
// The plan defines what a round is; the app's loss is the same for all plans. A scalar is the
// difference quotient of the loss along one direction. The plan says whether all devices share the
// directions of a round, or each device has directions of its own. Before its own local step, the
// device rounds each scalar to the plan's precision. So the device moves by exactly the scalars
// that it sends.
//
// With control=scaffold-1 a round makes two records. Phase 1 asks for P scalars at the current
// model. Phase 2 asks for K steps. In each step, the device adds a correction: the fleet's scalars
// of phase 1 minus the device's own. The device keeps its reply to phase 1 for that correction. A
// device that skipped phase 1, or lost its store, makes the queries of phase 1 during phase 2. The
// result is the same, because the model and the minibatch are the same.
//
// With control=svrg phase 1 asks for P scalars on all of the device's data. Phase 2 asks for K
// steps. In each step, the device compares the slopes of a minibatch with the slopes of the same
// minibatch at the round's model, along the same directions. The device steps by these differences
// plus the fleet's scalars of phase 1.
//
// With control=scaffold-2 a device corrects its steps by its last contribution that a record
// counted. The device's store keeps up to 16 contributions, in case the run rolls back. After a
// restart or a snapshot, the device asks the log for the one record that it did not see, and takes
// no part until it has the answer. A device that lost its store contributes without a correction at
// first. The lost contribution stays in the fleet's mean, with weight 1/N.
//
// # Dense transport
//
// With transport=dense a device sends a vector ([plan.Plan.Object]) instead of scalars. The record
// names the mean of these vectors, and every device fetches that mean. A round, or each phase of a
// round, costs 4 bytes an element up and 4 down, whatever K, P and the number of devices are. The
// device sends and fetches vectors in requests, in pieces of up to 60 KiB. Each piece of a vector
// costs a round trip. Interrupted transfers resume. A device that was killed sends
// its stored bytes from the point that the coordinator names. An interrupted download goes on where
// it stopped. Only after the coordinator restarted must a device send the whole vector again.
//
// Each new vector replaces the vector before. So a device that was away applies all records but
// downloads only the last vector, or the last two where rounds have two phases. Until the download
// is complete, [Client.Params] returns the last complete model, and the device reports no digests.
// A record proves its vector, so a device prefers vectors to snapshots. The device downloads a
// snapshot only if the coordinator no longer has a vector. If the device can get neither, it waits
// for the next record and reports the failure in [Progress].Err.
//
// # Permissions
//
// A device publishes to zo.<run>.j.<id>, zo.<run>.c.<id>, zo.<run>.s.<id> and zo.<run>.p.*.<id>.
// With transport=dense the device also publishes to zo.<run>.u.<id> to send its vectors, and to
// zo.<run>.d.<id> to fetch the vectors of records. The device subscribes to zo.<run>.a.* and to its
// inbox, where answers come. A missing permission ends Run with [bus.ErrPermission]. Only the
// subject zo.<run>.s.<id> is optional: a device that may not publish there downloads no snapshots.
//
// # Private runs
//
// With [Config].RunKey, the devices derive directions from a secret that only they have. The broker
// and the coordinator see scalars, and cannot compute the model from the scalars without the key.
// Digests are keyed. The snapshots that a passive replica keeps and serves are encrypted under the
// key, as docs/sealed.md says. A device's own checkpoint is not encrypted: it lies where the app's
// data lie. The key hides nothing from the devices, because all of them have the key.
//
// # Passive replicas
//
// A client with [Config].Passive follows a run without taking part. An operator starts such a
// client to watch the run: the client reports digests and serves snapshots.
//
// # Memory
//
// In vectors of the model's size, a client holds:
//
//   - [Config].Initial, unless the app gives [Config].ReadInitial in its place;
//   - the parameters, and each vector that the plan's rules replicate ([plan.Plan.StateVectors]);
//   - the flat vector that the app sees, if the objective is [objective.Flat], differentiates, or
//     is an [objective.Evaluator] without EvaluateAt; and the gradient or direction, if that is
//     flat;
//   - for K > 1, the local iterate of the parameters and of their momentum, and with control
//     variates the correction;
//   - a second copy of the state while the client loads a snapshot, or replays the log when the run
//     ends because nothing proved the snapshot;
//   - with transport=dense, the vector that the client sends, as numbers and as bytes, and the
//     bytes of the vector that the client receives.
//
// The client writes checkpoints without a copy. Each of the [Config].Workers goroutines needs a
// block of 16 KiB. An [objective.Streaming] or [objective.Batched] objective reads into blocks of
// its own: one block, or one for each of the 2P or 1+P points of a step. After the first round, the
// client allocates next to nothing in a round.
//
// # Determinism
//
// Package replica computes a device's parameters: after the same record, every device of the run
// has the same bits. An announcement and the log may show that a device followed another log than
// the run's. The device then tells the coordinator the number of its last record. The run pauses if
// the coordinator's log has fewer records. Once the operator has accepted the loss of records, the
// device goes back to its checkpoint, or to record 1.
//
// # How it is built
//
// Client connects internal packages, each with one subject:
//
//   - follow applies records up to the head of the log, and proves the result.
//   - probe evaluates the app's loss at the model that follow computed.
//   - outbox stores each reply before Run sends it, and sends the same bytes again when asked.
//   - files keeps files in the Store, and seal encrypts snapshots.
//   - retry draws the pauses between attempts, and knows which errors end Run.
//
// A scalar goes this way. An announcement arrives in the inbox, and Run takes the announcement from
// there. follow applies the records that the replica has not applied yet. probe evaluates the loss
// at two points along a direction, and their difference is the scalar. outbox stores the reply with
// the scalar, and Run publishes the reply. The coordinator commits a record with the mean. The next
// announcement carries the record, and follow applies the record to the model.
package client
