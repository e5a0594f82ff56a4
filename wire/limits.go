package wire

// Versions that this package reads and writes.
const (
	// FrameVersion is the first field of every frame but a record.
	FrameVersion = 1
	// RecordVersion is the first field of every record.
	RecordVersion = 1
)

// Limits. Whatever the plan says, a decoder refuses values beyond these limits.
const (
	// MaxFrame is the longest frame in bytes. Set the broker's max_payload to MaxFrame.
	MaxFrame = 64 << 10
	// MaxHead is the longest announcement in bytes without its records.
	MaxHead = 1 << 10
	// MaxRecord is the longest record in bytes. A frame always has room for one record and the rest of
	// an announcement.
	MaxRecord = 60 << 10
	// MaxTerms bounds the terms of one record.
	MaxTerms = 4096
	// MaxSlots bounds the contributors that a record may name.
	MaxSlots = 16 << 10
	// MaxReason is the longest text in a frame, in bytes.
	MaxReason = 256
	// MaxPiece bounds the bytes of a dense vector in one frame.
	MaxPiece = 60 << 10
	// FullThreshold is the value of Cohort.Sampled that asks all devices of an open
	// roster.
	FullThreshold = 1 << 32
)
