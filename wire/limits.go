package wire

import "time"

// Versions that this package writes and reads.
const (
	// FrameVersion is the first field of every frame but a record.
	FrameVersion = 1
	// RecordVersion is the first field of every record.
	RecordVersion = 1
)

// Limits. A decoder refuses what exceeds them, whatever the plan says.
const (
	// MaxFrame is the longest frame in bytes; give brokers this max_payload.
	MaxFrame = 64 << 10
	// MaxHead is the longest announcement in bytes without its records.
	MaxHead = 1 << 10
	// MaxRecord is the longest record in bytes. Beside the rest of an announcement one
	// always fits in a frame.
	MaxRecord = 60 << 10
	// MaxScalars bounds K*P, the scalars of one contribution.
	MaxScalars = 14 << 10
	// MaxTerms bounds the terms of one record.
	MaxTerms = 4096
	// MaxSlots bounds the contributors that a record may name.
	MaxSlots = 16 << 10
	// MaxName is the longest run name, client id, segment name or metric name.
	MaxName = 32
	// MaxReason is the longest text in a frame, in bytes.
	MaxReason = 256
	// MaxSegments bounds the segments of a model.
	MaxSegments = 512
	// MaxPoints bounds the points of a schedule.
	MaxPoints = 64
	// MaxMetrics bounds the metrics of an evaluation, and the roots of a plan.
	MaxMetrics = 16
	// MaxDim is the largest model: 2^29 blocks of 4096 parameters.
	MaxDim = 1 << 41
	// MaxWeight is the largest weight of one contribution.
	MaxWeight = 1 << 20
	// MaxMembers bounds the slots of a roster.
	MaxMembers = 1 << 24
	// MaxSubspace bounds tau, the moves that span a subspace.
	MaxSubspace = 64
	// MaxPool bounds the directions of a pool.
	MaxPool = 1 << 16
	// MaxDense bounds the elements of a vector that devices send.
	MaxDense = 1 << 24
	// MaxFeatures bounds M, the random features of a surrogate.
	MaxFeatures = 1 << 16
	// MaxWindow bounds the losses that a surrogate uses; its matrix has the square of
	// that many elements.
	MaxWindow = 1 << 13
	// MaxPiece bounds the bytes of a vector in one frame.
	MaxPiece = 60 << 10
	// FullThreshold is the value of Cohort.Sampled that asks all devices of an open
	// roster.
	FullThreshold = 1 << 32
)

// Defaults of a plan's fields, which package preset applies.
const (
	DefaultReannounce     = 5 * time.Second
	DefaultAnnounceBudget = 512
	DefaultDigestEvery    = 64
	DefaultMaxAttempts    = 3
	DefaultRebase         = 64
	DefaultDenseKeep      = 16
)
