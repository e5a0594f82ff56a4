package wire

// answerHead bounds the bytes of an answer besides its records or its piece of a file. The bound
// includes a signature.
const answerHead = 256

// LeastRoom is the fewest bytes that a device asks for when it repeats a request that got no
// answer. With most plans a record or two fit into LeastRoom.
const LeastRoom = 1 << 10

// Room returns how many bytes of records, or of a file, an answer may have: most, or less if the
// connection allows only messages of at most payload bytes. payload is 0 if the limit is not known.
func Room(payload int64, most uint64) uint64 {
	if payload <= 0 || payload >= MaxFrame {
		return most
	}
	return min(most, uint64(max(payload-answerHead, 1)))
}

// ShorterRoom returns 1/divisor of Room, for an asker whose longer answers did not come. The result
// is LeastRoom or more, unless Room is less. A divisor of 0 is 1.
func ShorterRoom(payload int64, most, divisor uint64) uint64 {
	here := Room(payload, most)
	return max(here/max(divisor, 1), min(here, LeastRoom))
}
