package wire

// answerHead bounds the bytes of an answer besides the records or the piece in it, with a
// signature.
const answerHead = 256

// LeastRoom is the smallest room that a request asks for because no answer came. It has room for a
// record or two of most plans.
const LeastRoom = 1 << 10

// Room returns how many bytes of records, or of a file, an answer may have: most, or less where a
// connection takes only messages of payload bytes. 0 is a payload that is not known.
func Room(payload int64, most uint64) uint64 {
	if payload <= 0 || payload >= MaxFrame {
		return most
	}
	return min(most, uint64(max(payload-answerHead, 1)))
}
