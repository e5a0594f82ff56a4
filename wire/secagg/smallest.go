package secagg

// SmallestSum returns how many devices there are at least in a sum that a server gets which lies to
// the members of a round without Agree: nobody tells them that they were given different lists.
// Without colluding devices; 1 where not all are neighbors, for which no better is known. With
// Agree it is the threshold.
//
// Of a device of the sum it needs the seed. If one of these has added the mask of a device g, and g
// is not in the sum, it needs g's key. So t others must call g gone. It calls devices gone already
// to those of the sum, before they mask their values: their lists have the s devices of the sum,
// and as few others as makes t. Then there are n-s or fewer to be called gone, and each device of a
// list of l calls l-t of them gone at most, but never itself.
func SmallestSum(members, threshold int) int {
	if degree, _ := Graph(members); degree+1 < members {
		return 1
	}
	for sum := 1; sum < members; sum++ {
		for gone := max(0, threshold-sum); gone <= members-sum; gone++ {
			most := members - threshold
			calls := sum*min(sum+gone-threshold, gone) + (members-sum-gone)*min(most, gone) +
				gone*min(most, max(gone-1, 0))
			if calls >= threshold*gone {
				return sum
			}
		}
	}
	return members
}
