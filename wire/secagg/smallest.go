package secagg

// SmallestSum returns the smallest number of devices in a sum that a lying server can get in a
// round without Agree, where nobody tells the members that their lists differ. It assumes no
// colluding devices. It returns 1 where not all are neighbors, because no better bound is known
// there. With Agree the threshold is the smallest number.
//
// For each device of the sum the server needs the seed. If a device of the sum added the mask of a
// device g outside the sum, the server needs the key of g. For that, t other devices must be told
// that g is gone. The server tells the devices of the sum, before they mask, that others are gone:
// their lists hold the s devices of the sum, and as few others as make t. Then at most n-s devices
// can be called gone. Each device with a list of l calls at most l-t of them gone, and never
// itself.
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
