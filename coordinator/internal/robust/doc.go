// Package robust keeps the contributions of one device from deciding a round. It cuts contributions
// of unusual length, believes claimed sample counts only near their median, and lets devices count
// less if they keep contradicting the others.
//
// All of this happens before a record is made. The record holds the result; replicas need not know
// how it was made. The package has no clock, goroutine or randomness, and its results do not depend
// on the order of arrival. The coordinator's core owns its values.
//
// # Lengths
//
// The length of a contribution is the root of the mean square of its scalars. With Plan.Bound = b a
// contribution longer than b times the scale is cut to that length, its direction kept.
// Contributions are held until the round closes, and the scale is the median of their lengths. The
// log bounds a majority of liars in a round: the scale is at most what its round records show, by
// medians of 15 of them, see [Past]. Both medians have a margin where they are of few scalars. The
// scale is at least a quarter of the largest such median so far. Here the terms of records count
// unchanged: if one device has all that is left to learn, it is not cut to the size of the others.
// So the scale is a function of the round and of the log, and coordinators that are restarted or
// take over cut alike. It is relative, so the size of the loss does not matter. The scale from the
// log follows a change of that size by a factor of at least b every 8 rounds. Control variates,
// which belong to earlier and often steeper points, are cut to b times the largest scale so far.
//
// # Claims
//
// With Plan.ClaimBound = b a claimed number of samples counts up to b times the median claim of the
// round. Vectors cannot wait for it: theirs counts up to b times the median of the last rounds that
// this coordinator led, and all weights are 1 before that is known.
//
// # Trust
//
// With Plan.Trust = N the agreement of a device is the mean, over about its last N contributions,
// of the cosine between its scalars and the center of the others: the sum of their contributions,
// each of length 1 times what its device counted so far. With a the median agreement of the round's
// contributors, a device counts in full from 0.3 a on, in proportion below, and not at all from 0
// down. One lie costs little, but many show: contributions that keep agreeing with the others
// cannot outweigh them. If a is below 0.2, contradiction proves nothing, and devices count as
// before: all of them, or all except those that were found to lie while it did prove something.
//
// # Roots
//
// With Plan.Roots too, devices are compared with the devices that the operator trusts instead. With
// r the mean contribution of the round's roots and c a device's, cut to the bound, a device has
// help = sum c.r and most = sum |c||r| over its last N contributions, older ones fading, and loses
// the share -help / (0.05 most) of its weight, from 0 to 1. A contribution that is farther from r
// than the median one is moved towards r to that distance. A round without a root's contribution
// moves nothing.
//
// Noise does not contradict r. But honest devices together come near r, however much their data
// differ; noise does not. So each device also has a weight w. With n the number of a round's
// contributors but roots, the weights make
//
//	sum |r - sum w c / n|^2 + (e/s)^2 sum (w - s)^2, 0 <= w <= s
//
// least is the smallest over about the last N rounds, and older ones fade. There s is the best
// weight of all that are the same for each device, and e the root mean square of what then remains
// of a scalar. Here c is cut to the scale, and r and c are fractions of it. A device counts w/s of
// its full weight. The less the devices together tell of r, the less their weights differ. It
// leaves out members with slots from 1024 on, and members that have lost their whole weight because
// they contradict r.
package robust
