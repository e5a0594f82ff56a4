// Package replica is the model of a Zofl run as a pure replay of its log:
// state(n) = Apply(state(n-1), record n).
//
// A client keeps one. A program that wants the model without taking part keeps one too. A replica
// starts no goroutine that outlives a call, reads no clock and does no input or output.
//
// # Determinism
//
// Replicas that applied the same records have the same bits on every CPU and operating system.
// Every product is rounded before it is added. Every sum has one written order. No called function
// may differ in its last bit between machines. Elements do not depend on each other, so the number
// of goroutines ([Config].Workers) does not matter either. [Replica.Digest] condenses the state to
// 32 bytes.
//
// # Arithmetic
//
// docs/replay.md lists every operation in its order: rounds, terms, control variates, server rules,
// pools. The page suffices to port this package; python/src/zofl/audit is such a port.
//
// # Dense transport
//
// With transport=dense a round has no terms. Its record holds the digest of an object: a vector
// that travels beside the record and replaces vectors of the state, so a replica computes nothing.
// A replica applies records without their objects. The state then lacks only the last object of
// each kind. Supplying these completes it, whatever came before:
//
//	applied, err := r.ApplyAll(records)
//	for _, o := range r.Missing() {
//		err := r.Supply(o.Digest, fetch(o))
//	}
//
// A device steps along [Replica.Estimate] or its own surrogate, within the plan's boxes:
// see [Replica.Clip].
//
// # What methods cost
//
// Memory beyond x, and beyond K*P directions and K*P scalars a record (4 bytes each, or 2 as
// halves):
//
//	momentum       1 d
//	server rules   momentum, normalized 1 d; adam, yogi, adagrad 2 d; amsgrad 3 d; sgd, sign none
//	prox           none; a pass over x and its start a step
//	sphere         a pass over each direction for its norm, made once by a device that
//	               probed it
//	subspace       2 tau d; tau passes over d a step and a probe, and tau^2 products
//	               an element each tau rounds
//	relay          C K P directions and scalars a record, of C contributors
//	scaffold-1     2 P scalars and P directions a round more, of two records
//	svrg           P scalars and P directions a round more, of two records
//	scaffold-2     1 d; up to C K P scalars and directions more, for C contributors
//	               whose last contributions are of C records
//	pool           8 (N+1) bytes, twice of a rule with momentum, as much again to work
//	               with, and 1 d if x0 is given; N directions each E rounds, after
//	               which a state file is the numbers alone
//	late           a term more for each older record with late contributions, of relay
//	               for each late contribution: as many scalars and directions again
//	dense          no directions; 4 d bytes beside a record, 8 d of scaffold-2; of
//	               any control 1 d; of a surrogate M numbers, and 4 M bytes beside
//	               each other record
//
// A device also holds [Local]: 1 d for K > 1, 1 d with momentum, 1 d with control.
// [Replica.Correct] makes as many directions as the device's own variate has scalars.
//
// Replaying mean scalars equals averaging the devices' own models for sgd, both momenta, decay,
// prox and control variates: these are linear. The two differ only in rounding: one rounds the mean
// of scalars, the other the mean of models. With a single contributor the device's model has the
// replica's bits, unless there is a server rule or the round is one after which a pool rebases. The
// exceptions to this equality:
//   - Adaptive server rules, normalized and sign act once a round, on the mean move or
//     estimate. That is how these methods are defined; averaging models that each made K
//     steps of Adam is a different method.
//   - With a median, trimmed or clipped mean, the recursion on the aggregated scalars is
//     the definition: it equals no mean of models.
//   - c_i of scaffold-2 is 0 until a device's first contribution that counts.
//   - Late contributions move x as they would have on time, discounted, for sgd and prox.
//     Momentum and decay act once a step of the record, whatever it counts.
//   - Between rebases, x of a pool equals the sum over its coefficients only up to
//     rounding.
package replica
