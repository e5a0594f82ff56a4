// Package replica is the model of a Zofl run as a pure replay of its log:
// state(n) = Apply(state(n-1), record n).
//
// The client keeps one; so does whoever wants the model without taking part.
// It starts no goroutine that outlives a call, reads no clock and does no input
// or output.
//
// # Determinism
//
// Replicas that applied the same records have the same bits on every CPU and
// operating system: every product is rounded before it is added, sums have one
// written order, and nothing calls a function whose last bit is a matter of
// taste. Elements do not depend on each other, so it does not matter either how
// many goroutines share them out ([Config].Workers). [Replica.Digest] says it in
// 32 bytes.
//
// # A round
//
// All in float32, for each element i, unless it says otherwise; what a plan does not
// have is left out, not added as 0. S is the segment's step scale.
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
// A term is a*z. Those of a step ascend by slot, then by perturbation. With shared
// directions a = g/P. Relayed, a = float32(float64(g*w)/float64(W*P)), w being the
// contributor's weight, W the sum of them, 1 each without weights. A sum begins at 0
// and adds float32(a*z[i]), eight signs at a time as [prng.Sum] says, and then what is
// in the subspace.
//
//	sphere:    a' = float32(a*d), then float32(float64(a') / sqrt(|z|^2)) times z
//	subspace:  float32(a * root(1-alpha)) times z, and when all are added
//	           for j := range basis {
//	           	s := sum over the terms of float32(a * float32(root(alpha)*z2[j]))
//	           	v += float32(s * basis[j][i])
//	           }
//	pool:      z is one of N fixed directions: see poolIndex
//
// |z|^2 is in float64, as prng's SPEC.md has it; root is of float64 and rounded to
// float32; z2 is the direction of domain Subspace. Before there are tau moves z is
// alone. A probe adds one term to x[i] as a sum does, a being float32(mu*M) with the
// segment's mu scale M, and of a sphere a' being a. Within a box M is float32(M*W), W being
// float32(High-Low), and what comes of it is clipped to the box.
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
// [mathx.YogiStep], [mathx.SignStep].
//
// # Seed pool
//
// Besides x and m, which move as above, there are coefficients in float64, a of N+1
// and b likewise, the last being those of x0. A step adds its float32 terms g/P, of a
// sphere times d, to v by direction in the order of the terms, and for each s
//
//	v[s] += prox*(a[s]-a0[s]);  v[s] += decay*a[s]
//	b[s] = beta*b[s] + gain*v[s]
//	a[s] -= eta*b[s]                                        // rule sgd: v[s]
//
// each product rounded. After each E rounds, in float32, s ascending,
//
//	x[i] = float32(float32(a[N])*x0[i]) + float32(S * sum(float32(a[s])*z_s))
//	m[i] = float32(float32(b[N])*x0[i]) + sum(float32(b[s])*z_s)
//
// # Dense transport
//
// A round has no terms but the digest of an object, a vector that travels beside it and
// replaces others, so that nothing is computed:
//
//	phase 0:  x; of scaffold-2 x, then c
//	phase 1:  of scaffold-1 c; of a surrogate x
//	phase 2:  of scaffold-1 x; of a surrogate w
//
// Records apply without their objects, and a state lacks the last of each kind alone,
// which makes it whole whatever came before:
//
//	applied, err := r.ApplyAll(records)
//	for _, o := range r.Missing() {
//		err := r.Supply(o.Digest, fetch(o))
//	}
//
// A device steps along [Replica.Estimate] or a surrogate of its own, within the plan's
// boxes: see [Replica.Clip].
//
// # What methods cost
//
// Beyond x, K*P directions and as many scalars a record, of 4 bytes or 2 as halves:
//
//	momentum       1 d
//	server rules   momentum 1 d; adam, yogi 2 d; amsgrad 3 d; sgd, sign none
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
//	dense          no directions; 4 d bytes beside a record, 8 d of scaffold-2; of
//	               either control 1 d; of a surrogate M numbers, and 4 M bytes beside
//	               each other record
//
// A device has [Local] besides: 1 d for K > 1, 1 d with momentum, 1 d with control.
// [Replica.Correct] makes as many directions as the device's own variate has scalars.
//
// # Exactness
//
// Replaying mean scalars is the mean of the devices' own models for sgd, both momenta,
// decay, prox and control variates, which are linear, but for rounding: a mean of
// scalars is rounded once, a mean of models would be elsewhere. With a single
// contributor the device's model has the replica's bits, without a server rule and but
// for rounds after which a pool rebases. Besides:
//   - Adaptive server rules and sign act once a round, on the mean move. That is the
//     method; to average models that each made K steps of Adam would be another.
//   - Under median, trimmed or clipped means the recursion on what they come to is the
//     definition: no mean of models has it.
//   - c_i of scaffold-2 is 0 until a device's first contribution that counts.
//   - Between rebases x of a pool is its coefficients' but for rounding.
package replica
