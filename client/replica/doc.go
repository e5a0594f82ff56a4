// Package replica is the model of a Zofl run as a pure replay of its log:
// state(n) = Apply(state(n-1), record n).
//
// Every client keeps a replica. So does a program that follows the model without taking part in the
// run. A replica starts no goroutine that outlives a call, reads no clock and does no input or
// output.
//
// # Determinism
//
// Replicas that applied the same records have the same bits on every CPU and operating system.
// Every product is rounded before it is added to a sum. docs/replay.md fixes the order of every
// sum. The replica calls no function whose result may differ between machines in its last bit.
// Elements do not depend on each other, so the number of goroutines ([Config].Workers) does not
// matter either. [Replica.Digest] returns a hash of the state, 32 bytes.
//
// # Arithmetic
//
// docs/replay.md lists every operation in its order: rounds, terms, control variates, server rules,
// pools. With that page alone one can port this package to another language. python/src/zofl/audit
// is such a port.
//
// # Dense transport
//
// With transport=dense a round has no terms. The round's record holds the digest of an object. An
// object is a vector that travels beside the record and replaces vectors of the state, so a replica
// computes no step. A replica applies records without their objects. The state then lacks only the
// last object of each kind. The caller completes the state by supplying these objects, however many
// records came before:
//
//	applied, err := r.ApplyAll(records)
//	for _, o := range r.Missing() {
//		err := r.Supply(o.Digest, fetch(o))
//	}
//
// A device moves its own model along [Replica.Estimate], or along the gradient of its own
// surrogate. [Replica.Clip] keeps the model within the plan's boxes.
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
//	lowrank        a byte for each factor and eight pending terms, 32 MiB unless a round
//	               alone has more, and a bit for each factor of a step's directions
//	cma            d^2+d, of limited (5+3 ln d) d, with boxes 1 d more; a record takes
//	               d^2 products a candidate, twice
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
// [Replica.Correct] generates as many directions as the device's own control variate has scalars.
//
// Replaying the mean scalars gives the mean of the devices' own models, apart from rounding, for
// sgd, both momenta, decay, prox and control variates, because these operations are linear. With a
// single contributor the device's model has the replica's bits, unless the plan has a server rule
// or a pool rebases after the round. The exceptions to this equality:
//   - Adaptive server rules, normalized and sign act once a round, on the mean move or estimate, as
//     these methods are defined. Averaging models that each made K steps of Adam is a different
//     method.
//   - With a median, trimmed or clipped mean, the replay of the aggregated scalars is the
//     definition of the method. Its result is not a mean of models.
//   - c_i of scaffold-2 is 0 until a device's first contribution that counts.
//   - With sgd and prox, late contributions move x as they would have on time, but discounted.
//     Momentum and decay act once in each step of a record, whatever contributions the record
//     counts.
//   - Between rebases, x of a pool equals the sum over its coefficients only up to
//     rounding.
package replica
