// Package robust keeps the contributions of one device from deciding a round. The package scales
// down contributions of unusual length, limits claimed sample counts to a multiple of their median,
// and reduces the weights of devices that keep contradicting the others.
//
// All of this happens before the coordinator makes a record. The record holds the result, and
// replicas need not know how the coordinator computed it. The package has no clock, goroutine or
// randomness, and its results do not depend on the order in which contributions arrive. The
// coordinator's core owns the package's values.
//
// # Lengths
//
// The length of a contribution is the root of the mean square of its scalars. With Plan.Bound = b,
// a contribution longer than b times the scale is scaled down to that length. The coordinator holds
// contributions until the round closes, and the scale is the median of their lengths. The log
// limits what a majority of liars in a round can do: the scale is at most what the log's round
// records show, by medians over 15 records, see [Past]. Both medians get a margin if they come from
// few scalars. The scale is at least a quarter of the largest such median so far, computed from the
// lengths of the records' terms. So if one device has all that is left to learn, its contribution
// is not scaled down to the size of the others. The scale is a function of the round and of the
// log, so coordinators that are restarted or take over scale alike. The scale is relative, so the
// size of the loss does not matter. The scale from the log can follow a change of the lengths by a
// factor of at least b every 8 rounds. Control variates, which belong to earlier and often steeper
// points, are scaled down to b times the largest scale so far.
//
// One device of few is limited further. Let u be the median of the lengths in the round alone, but
// at least a quarter of the largest median so far. A contribution longer than 8 u, and than b u,
// does not count. Any other is scaled down to u in a round of up to 5 contributors, to 1.5 u with
// up to 12, and with more to an eighth of their number times u. So one liar is as long as one
// honest device where few are honest. That honest contributions are scaled down, too, does not show
// as a cut. A device that alone has something left to learn, such as a rare label, is scaled down
// or left out likewise. Rounds of two have no minority, and no such limit. Neither has a plan with
// roots.
//
// The losses of candidates, with difference=none, differ ever less as a run nears its optimum, by
// many orders. So there the largest median so far has no part in u or in the scale. A contribution
// may be as long as two thirds of the sum of the others' lengths, each of which counts up to 8 u,
// and none is left out: one liar cannot reverse a ranking on which the others agree. Honest devices
// with unlike data are seldom scaled down, because at the optimum of their mean no gradient is
// longer than the others together.
//
// # Sums
//
// With secure aggregation nobody sees a single contribution. There the mean of a round is scaled
// down to b times the usual length of earlier means, see [Sums].
//
// # Claims
//
// With Plan.ClaimBound = b a claimed number of samples counts up to b times the median claim of the
// round. The coordinator cannot hold vectors until that median is known: for vectors, a claim
// counts up to b times the median of the last rounds that this coordinator led, and all weights are
// 1 before that median is known.
//
// # Neighbors
//
// With Plan.Liars = f each contribution of a round of n is replaced, before all else, by the mean
// of the n - f contributions nearest to it, itself among them: nearest-neighbor mixing, see [Mix].
// A liar far from the honest devices changes only what its own contribution becomes, which the
// trimmed mean then cuts off. A liar near the honest devices is not told from them.
//
// # Trust
//
// With Plan.Trust = N the agreement of a device is the mean, over about its last N contributions,
// of the cosine between its scalars and the center of the others: the sum of their contributions,
// each scaled to length 1 and multiplied by its device's weight so far. With a the median agreement
// of the round's contributors, a device has full weight from agreement 0.3 a on, a proportional
// weight below, and weight 0 from agreement 0 down. A device that lies once loses little weight,
// and a device that lies often loses all of it: contributions that keep agreeing with the others
// cannot outweigh the others. If a is below 0.2, contradiction proves nothing, and devices keep
// their weights: the full weight, or the weight that devices had when a was last 0.2 or more.
//
// # Roots
//
// With Plan.Roots too, each device is compared instead with the roots, the devices that the
// operator trusts. Let r be the mean contribution of the round's roots, and c a device's
// contribution, scaled down to the bound. A device has help = sum c.r and most = sum |c||r| over
// its last N contributions, where older contributions fade. A device loses the share -help / (0.05
// most) of its weight, from 0 to 1. A contribution that is farther from r than the median
// contribution is moved towards r to the median distance. A round without a root's contribution
// does not move the model.
//
// Noise does not contradict r. But the mean of honest devices comes near r, however much their data
// differ, and the mean of noise does not. So each device also has a weight w. With n the number of
// a round's contributors that are no roots, the weights w minimize
//
//	sum |r - sum w c / n|^2 + (e/s)^2 sum (w - s)^2, 0 <= w <= s
//
// over about the last N rounds, where older rounds fade. Here s is the best weight if all devices
// have the same, and e is the root mean square, per scalar, of the difference that then remains. In
// this formula c is scaled down to the scale, and r and c are divided by the scale. A device counts
// w/s of its full weight. The less the devices together tell of r, the less their weights differ.
// The formula leaves out members with slots from 1024 on, and members that have lost their whole
// weight because they contradict r.
package robust
