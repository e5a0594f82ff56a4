package plan

import "time"

// Limits of a plan. A decoder refuses larger values.
const (
	// MaxScalars bounds K*P, the scalars of one contribution.
	MaxScalars = 14 << 10
	// MaxName is the longest run name, client id, segment name or metric name.
	MaxName = 32
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
	// MaxMixed bounds the contributions of a round that are mixed against liars, because each is
	// compared with each.
	MaxMixed = 1 << 10
	// MaxSubspace bounds tau, the moves that span a subspace.
	MaxSubspace = 64
	// MaxPool bounds the directions of a pool.
	MaxPool = 1 << 16
	// MaxDense bounds the elements of a vector that devices send.
	MaxDense = 1 << 24
	// MaxFeatures bounds M, the random features of a surrogate.
	MaxFeatures = 1 << 16
	// MaxWindow bounds the losses that a surrogate uses: with n losses the matrix of the surrogate has
	// n*n elements.
	MaxWindow = 1 << 13
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
