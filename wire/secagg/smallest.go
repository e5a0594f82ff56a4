package secagg

// SmallestSum returns the smallest number of devices in a sum that a lying server can get in a
// round without Agree, because without Agree the members cannot see that their lists differ.
// SmallestSum assumes that no device colludes with the server. SmallestSum returns 1 where not all
// devices are neighbors, because we know no better bound there. With Agree the smallest number is
// the threshold.
//
// For each device of the sum the server needs the seed. If a device of the sum added the mask of a
// device g outside the sum, the server needs the key of g. To get this key, the server must tell t
// other devices that g is gone. The server tells the devices of the sum, before they mask, that
// others are gone: their lists hold the s devices of the sum and some of the n-s others, together
// at least t. Only these others must later be called gone. To a device with a list of l devices the
// server can call at most l-t of them gone, and never the device itself. SmallestSum tries each
// number of others.
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
