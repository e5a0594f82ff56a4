// Package replica is the model of a Zofl run as a pure replay of its log:
// state(n) = Apply(state(n-1), record n).
//
// A client keeps one, and so does anyone who wants the model without taking part. A replica
// starts no goroutine that outlives a call, reads no clock and does no input or output.
//
// # Determinism
//
// Replicas that applied the same records have the same bits on every CPU and operating
// system. Every product is rounded before it is added, every sum has one written order, and
// no function is called whose last bit may differ between machines. Elements do not depend
// on each other, so the number of goroutines ([Config].Workers) does not matter either.
// [Replica.Digest] condenses the state to 32 bytes.
//
// # A round
//
// These are the operations on each element i, in float32 unless stated otherwise. A term
// that the plan does not have is left out, not added as 0. S is the segment's step scale.
//
//	base := x[i]
//	for k := range K {
//		v := sum(terms of step k)
//		control[i] += float32((m/K) * v)                // scaffold-2
//		v += correction[i]                              // scaffold-1 and -2
//		v += float32(prox * (x[i] - base))
//		v += float32(decay * x[i])
//		eta := step * S
//		x[i] -= float32(eta * v)                        // rule sgd; others:
//		m[i] = float32(beta*m[i]) + float32(gain*v)     // gain 1-beta, of torch's 1
//		x[i] -= float32(eta * m[i])
//	}
//	control[i] += float32(-m * older[i])                    // scaffold-2
//	delta := x[i] - base                                    // of a server rule
//	x[i] = base, then the rule's step: see below
//	trail[(round-1) mod tau][i] = x[i] - base               // subspace
//
// # Terms
//
// A term is a*z. The terms of a step ascend by slot, then by perturbation. Those of late
// contributions follow, in the record's order: z is then of the older record, and P the
// number of its scalars divided by K. With shared directions a = g/P. With transport=relay,
// a = float32(float64(g*w)/float64(W*P)): w is the contributor's weight and W the sum of the
// weights; without weights each is 1. A sum begins at 0 and adds float32(a*z[i]), eight
// signs at a time as [prng.Sum] says. The part in the subspace is added last.
//
//	sphere:    a' = float32(a*d), then float32(float64(a') / sqrt(|z|^2)) times z
//	subspace:  float32(a * root(1-alpha)) times z, and when all are added
//	           for j := range basis {
//	           	s := sum over the terms of float32(a * float32(root(alpha)*z2[j]))
//	           	v += float32(s * basis[j][i])
//	           }
//	pool:      z is one of N fixed directions: see poolIndex
//
// |z|^2 is computed in float64 as docs/prng.md says. root is computed in float64 and
// rounded to float32. z2 is the direction of domain Subspace. Before there are tau moves, z
// is used alone. A probe adds one term to x[i] as a sum does, with a = float32(mu*M), M
// being the segment's mu scale; for a sphere a' = a. Within a box M is float32(M*W), W
// being float32(High-Low), and the result is clipped to the box.
//
// After each tau rounds the basis becomes Q of the trail, newest first: [mathx.Gram],
// [mathx.Cholesky], [mathx.Orthonormalize].
//
// # Control variates
//
//	scaffold-1:  correction = sum of ((c[p]-s[p])/P) * z[p], of the record of phase 1,
//	             whose means are c; s is the mean over the contributors of phase 2
//	scaffold-2:  older = sum of (s/(K P)) * z, of all older terms, ascending by Back;
//	             correction = float32((1/N)*control[i]) - older, N before the round,
//	             1/N rounded and 0 for N = 0
//
// # Server rules
//
//	sgd:       x += float32(step * delta)
//	momentum:  m = float32(beta1*m) + delta; x += float32(step * m)
//
// adam, amsgrad, yogi and sign are [mathx.AdamStep], [mathx.AdaptiveStep],
// [mathx.YogiStep], [mathx.SignStep]. step is float32(ServerStep*factor) of the record.
//
// normalized has no move: its round is one step along v, with u, V, p1, p2, which are float64
// registers of the state, and a = step*S. The record's step may be 0.
//
//	u := weighted mean of the squares of the record's own scalars, times d for a sphere
//	p1 *= beta1
//	V = beta2*V + (1-beta2)*u; p2 *= beta2                  // if u is not 0
//	keep, rate := float32(1-lambda*a), float32(a/((1-p1)*sqrt(V/(1-p2))))
//	m = float32(beta1*m) + float32((1-beta1)*v)
//	x = float32(keep*x) - float32(rate*m)
//
// # Seed pool
//
// Besides x and m, which move as above, the state has float64 coefficients: a and b of N+1
// elements each, of which the last belongs to x0. A step adds its float32 terms g/P (for a
// sphere times d) to v, each at the index of its direction, in the order of the terms. Then
// for each s
//
//	v[s] += prox*(a[s]-a0[s]);  v[s] += decay*a[s]
//	b[s] = beta*b[s] + gain*v[s]
//	a[s] -= eta*b[s]                                        // rule sgd: v[s]
//
// each product rounded. After every E rounds, in float32 and by ascending s,
//
//	x[i] = float32(float32(a[N])*x0[i]) + float32(S * sum(float32(a[s])*z_s))
//	m[i] = float32(float32(b[N])*x0[i]) + sum(float32(b[s])*z_s)
//
// # Dense transport
//
// A round has no terms. It has the digest of an object: a vector that travels beside the
// record and replaces vectors of the state, so nothing is computed:
//
//	phase 0:  x; of scaffold-2 x, then c
//	phase 1:  of scaffold-1 c; of a surrogate x
//	phase 2:  of scaffold-1 x; of a surrogate w
//
// Records apply without their objects. The state then lacks only the last object of each
// kind, and supplying these makes it whole, whatever came before:
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
// Beyond x, and K*P directions and K*P scalars a record (4 bytes each, or 2 as halves):
//
//	momentum       1 d
//	server rules   momentum, normalized 1 d; adam, yogi 2 d; amsgrad 3 d; sgd, sign none
//	prox           none; a pass over x and its start a step
//	sphere         a pass over each direction for its norm, made once by a device that
//	               probed it
//	subspace       2 tau d; tau passes over d a step and a probe, and tau^2 products
//	               an element each tau rounds
//	relay          C K P directions and scalars a record, of C contributors
//	scaffold-1     2 P scalars and P directions a round more, of two records
//	scaffold-2     1 d; up to C K P scalars and directions more, for C contributors
//	               whose last contributions are of C records
//	pool           8 (N+1) bytes, twice of a rule with momentum, as much again to work
//	               with, and 1 d if x0 is given; N directions each E rounds, after
//	               which a state file is the numbers alone
//	late           a term more for each older record with late contributions, of relay
//	               for each late contribution: as many scalars and directions again
//	dense          no directions; 4 d bytes beside a record, 8 d of scaffold-2; of
//	               either control 1 d; of a surrogate M numbers, and 4 M bytes beside
//	               each other record
//
// A device has [Local] besides: 1 d for K > 1, 1 d with momentum, 1 d with control.
// [Replica.Correct] makes as many directions as the device's own variate has scalars.
//
// Replaying mean scalars equals averaging the devices' own models for sgd, both momenta,
// decay, prox and control variates, because these are linear. The two differ only in
// rounding: one rounds the mean of scalars, the other the mean of models. With a single
// contributor the device's model has the replica's bits, unless there is a server rule or
// the round is one after which a pool rebases. Besides:
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
