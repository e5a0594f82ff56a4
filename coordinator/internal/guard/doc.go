// Package guard keeps what one device sends from deciding a round. It cuts contributions whose
// length stands out, believes claimed sample counts only near their median, and lets devices that
// keep contradicting the others count less.
//
// All of it happens before a record is made: the record has what is left, and replicas need to know
// nothing of it. The package has no clock, goroutine or randomness, and what it returns does not
// depend on the order of arrival; the coordinator's core owns its values.
//
// # Lengths
//
// The length of a contribution is the root of the mean square of its scalars. With Plan.Bound = b a
// contribution longer than b times the scale is cut to that length, its direction kept. The scale
// is the median of the last 15 rounds' medians. Until there is one, contributions are held until
// the round closes, and the scale is the median of their own; after a restart it is at most what
// the log's last records tell. The scale is relative, so the size of the loss does not matter, and
// it follows a change of that size within 8 rounds. Control variates, which belong to earlier and
// often steeper points, are cut to b times the largest scale so far.
//
// # Claims
//
// With Plan.ClaimBound = b a claimed number of samples counts up to b times the median claim of the
// last rounds. Before that is known all weights are 1, but where contributions are held, which know
// the median of their own.
//
// # Trust
//
// With Plan.Trust = N the agreement of a device is the mean, over about its last N contributions,
// of the cosine between its scalars and the center: the sum of the round's contributions, each of
// length 1 times what its device counted so far. With a the median agreement of the round's
// contributors, a device counts in full from 0.3 a on, in proportion below, and not at all from 0
// down. One lie costs little, and many show: what keeps agreeing with the others cannot hold them
// back. If nobody agrees, all count.
package guard
