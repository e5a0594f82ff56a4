// Package client is a device's side of a Zofl run. It joins over NATS, keeps a replica of
// the model, probes the app's loss along shared directions, and sends a few scalars a round.
//
// For most uses, give [New] a connection, the name of the run, an id for the device and an
// [objective.Objective]. Then call [Client.Run] on a goroutine of its own, and take the
// model from [Client.Params] at any time. Set [Config].Logger or [Config].Recorder to see
// what Run does. An objective takes one of three forms:
//
//   - [objective.Func] is a loss over a flat vector.
//   - [objective.Streaming] is for an engine that loads its weights block by block. It never
//     needs a second copy of the model.
//   - [objective.Batched] is for an engine that can hold a block of many models at a time.
//     It reads each weight once a step.
//
// An app that can differentiate its loss says so with [objective.Differentiable],
// [objective.Directional] or [objective.StreamingDirectional]. Its device sends the same
// scalars, from one gradient a local step or one slope a direction, and works with black boxes
// in one run.
//
// # Failure
//
// A callback that fails costs the device one round. The app's callbacks run one at a time,
// on a goroutine of their own. If one returns an error or NaN, panics or hangs, the device
// declines the round, so that nobody waits for it, and tells its [Recorder] why. While a
// callback hangs, the device declines every round.
//
// Being offline is no error: Run waits. Run returns only errors that waiting does not cure;
// see [Client.Run]. On a bad network, connect with [ConnectOptions].
//
// # What survives
//
// With a [Store], the process may be killed at any point. The client saves:
//
//   - the state, every 64 records or 5 minutes, and when Run ends;
//   - each reply or vector before it is sent, so that a device that comes back within the
//     round sends the same bytes;
//   - what later rounds need: with scaffold-2 what the device contributed before, with a
//     surrogate the losses it measured.
//
// The client sets aside an item that is torn, damaged, or of another run, model or log. It
// reports that, and replays the log instead. If the store fails, the client reports it once
// and goes on in memory.
//
// A device that was away fetches the records it missed, one answer at a time, and replays
// them. Or it takes a snapshot from a passive replica and replays the rest. It chooses what
// costs less in bytes and seconds, as it measured them, or what [Config].Horizon says. A
// snapshot must be of the run's log. The client trusts its numbers until a reference digest
// of a later state agrees. If one disagrees, or none came before the run ended, the client
// replays the log. Digests cover vectors only: the client takes the current mu, batch size
// and limits of the plan from the snapshot, unproven. So let nobody but the passive replica
// answer zo.<run>.s.*, or pin the coordinator's key with [Config].Coordinator: then the client
// takes a snapshot only if the coordinator vouches for its digest, with the plan that it knows.
//
// A device whose digest differs from the run's reference reports [ErrDiverged] and rebuilds
// its state, from its checkpoint or from record 1, for one reference in 8 times DigestEvery
// records: so whoever makes wrong references does not keep it busy.
//
// # Methods
//
// The plan says what a round is; the app's loss is the same for all plans. A scalar is the
// bare difference quotient along a direction, which all devices share or which belongs to
// the device's slot. The device rounds each scalar to the plan's precision before it steps
// along it: what it sends is what it did.
//
// With control=scaffold-1 a round makes two records. Phase 1 asks for P scalars at the
// current model. Phase 2 asks for K steps, corrected by the fleet's scalars of phase 1 less
// the device's own. The device keeps its reply to phase 1 for that. A device that skipped
// phase 1, or lost its store since, makes those queries in phase 2: the model and the
// minibatch are the same, and so are the numbers.
//
// With control=svrg phase 1 asks for P scalars on all of the device's data, and phase 2 for K
// steps: how the slopes of a minibatch differ from those at the round's model, along the same
// directions. The device steps by these differences and by the fleet's scalars of phase 1.
//
// With control=scaffold-2 a device corrects by its last contribution that a record counted.
// Its store keeps up to 16 of them for runs that roll back. After a restart or a snapshot,
// the device asks the log for the one record that it did not see, and sits out until it
// knows. A device that lost its store contributes without a correction at first. What it
// found before stays in the fleet's mean, with weight 1/N.
//
// # Dense transport
//
// With transport=dense a device sends a vector ([plan.Plan.Object]) instead of scalars. The
// record names the mean of these vectors, and every device fetches it. A round, or each
// phase of one, costs 4 bytes an element up and as many down, whatever K, P and the number
// of devices are. Vectors travel by requests, in pieces of up to 60 KiB, a round trip each.
// Interrupted transfers resume: a device that was killed sends its stored bytes from where
// the coordinator says, and a download goes on where it stopped. Only a coordinator that
// restarted needs the vector anew.
//
// Each vector replaces the one before it. So a device that was away applies all records but
// fetches only the last vector, or the last two where rounds have two phases. Meanwhile
// [Client.Params] returns the last complete model, and the device reports no digests. A
// record proves its vector, so a device prefers vectors to snapshots. It takes a snapshot
// only where the coordinator no longer has a vector. If it can get neither, it waits for
// the next record and says so in [Progress].Err.
//
// # Permissions
//
// A device publishes zo.<run>.j.<id>, zo.<run>.c.<id>, zo.<run>.s.<id> and
// zo.<run>.p.*.<id>. With transport=dense it also publishes zo.<run>.u.<id>, to send its
// vectors, and zo.<run>.d.<id>, to fetch those of records. It subscribes zo.<run>.a.* and
// its inbox, where answers come. A missing permission ends Run with [bus.ErrPermission].
// Only s is optional: without it, a device takes no snapshots.
//
// # Private runs
//
// With [Config].RunKey, directions derive from a secret that only the devices have. Broker
// and coordinator see scalars, from which nobody can compute the model without the key.
// Digests are keyed. The snapshots that a passive replica keeps and serves are sealed under
// the key, as docs/sealed.md says. A device's own checkpoint is not sealed: it lies where the
// app's data lie. The key hides nothing from the devices, which all have it.
//
// # Passive replicas
//
// A client with [Config].Passive follows a run without taking part. It is an operator's
// witness, which reports digests and serves snapshots.
//
// # Memory
//
// In vectors of the model's size, a client holds:
//
//   - the parameters, and each vector that the plan's rules replicate ([plan.Plan.StateVectors]);
//   - for a flat objective, or one that evaluates or differentiates, the vector that the app
//     sees; for one with a flat gradient or slope, that gradient or direction too;
//   - for K > 1, the local iterate of the parameters and of their momentum, and the
//     correction with control variates;
//   - the state a second time, while it takes a snapshot, or replays at the run's end
//     because nothing proved the snapshot;
//   - with transport=dense, the vector that it sends, as numbers and as bytes, and the bytes
//     of what it fetches, which take memory as they come.
//
// Checkpoints are written without a copy. Each of [Config].Workers takes a block of 16 KiB.
// An [objective.Streaming] or [objective.Batched] objective reads into blocks of its own:
// one, or one for each of the 2P or 1+P points of a step. After the first round, a round
// allocates nothing of note.
//
// # Determinism
//
// The parameters of a device are those of package replica: after the same record, every
// device of the run has the same bits. A device may find out, from an announcement and the
// log, that it followed another log than the run's. It then says what it has, and the run pauses
// if the log has less. Once a person has accepted the loss, it goes back to its checkpoint, or to
// record 1.
//
// # How it is built
//
// Client conducts the internal packages, each of which knows one thing:
//
//   - follow brings the replica to the head of the log, and proves it.
//   - probe evaluates the app's loss there.
//   - outbox stores what the device promised, and sends the same again.
//   - files keeps files in the Store; seal encrypts snapshots.
//   - retry draws the pauses between attempts, and knows the errors that end Run.
//
// One scalar goes this way. An announcement arrives in the inbox, and Run takes it from
// there. follow applies the records that the replica lacks. probe evaluates the
// loss at two points along a direction, and their difference is the scalar. outbox
// saves the reply that holds it, and Run publishes the reply. The coordinator commits a
// record with the mean, the next announcement carries the record, and follow applies it to
// the model.
package client
