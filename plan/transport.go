package plan

import "github.com/zofl/zofl/internal/codec"

// Transport is what devices send, and what a record holds of their contributions. To tell
// transports apart, prefer the methods below to a comparison of names.
type Transport uint8

const (
	// Mean: devices send scalars along shared directions; a record has one term, their
	// mean.
	Mean Transport = 0
	// Relay: devices send scalars along directions of their own slot; a record has a
	// term for each contributor.
	Relay Transport = 1
	// DenseVectors: devices send vectors, see [Plan.Object]. A record has the digest of the mean of
	// the vectors, and the mean itself travels beside the log.
	DenseVectors Transport = 2
)

var transportNames = []string{"mean", "relay", "dense"}

func (v Transport) String() string { return codec.Name(transportNames, int(v)) }

// SendsVectors says whether devices send vectors, in [Upload] pieces, and a round's record names an
// object, [Round.Object]. Otherwise devices send scalars in a [Reply], and the record holds them as
// terms.
func (v Transport) SendsVectors() bool { return v == DenseVectors }

// Relays says whether a round's record has one term for each contributor. The source of such a term
// is the contributor's slot.
func (v Transport) Relays() bool { return v == Relay }

// SendsVectors is p.Transport.SendsVectors.
func (p *Plan) SendsVectors() bool { return p.Transport.SendsVectors() }

// RelaysWeights says whether a round's record holds the weight of each contributor,
// [Round.Weights].
func (p *Plan) RelaysWeights() bool { return p.Transport.Relays() && p.Weights != Equal }

// SendsControl says whether contributions hold the scalars of a [ControlVariate]. With DenseVectors
// the control variate is part of the device's vector, or is a vector itself. With [SVRG] a device
// has no control variate.
func (p *Plan) SendsControl() bool {
	return p.Control != NoControl && p.Control != SVRG && !p.SendsVectors()
}

// HoldsReplies says whether the coordinator must keep the scalars of every contributor until the
// round closes; otherwise the coordinator only adds the scalars to sums.
func (p *Plan) HoldsReplies() bool {
	return p.Transport.Relays() || p.Aggregator == Median || p.Aggregator == TrimmedMean
}

// Object returns the number of elements of the vector that each device sends in a phase, with
// transport=dense; 0 otherwise. The record names the mean of these vectors:
//
//	phase 0: x; with ScaffoldMean 2d, x and then c_i, the mean of the device's estimates
//	phase 1: with ScaffoldPoint and SVRG c_i, the estimate at the round's first point; with
//	         Surrogate x
//	phase 2: with ScaffoldPoint and SVRG x; with Surrogate w, of [Plan.Features] elements
func (p *Plan) Object(phase uint8) uint64 {
	switch {
	case !p.SendsVectors():
		return 0
	case p.Estimator == Surrogate && phase == 2:
		return uint64(p.Features)
	case p.Control == ScaffoldMean:
		return 2 * p.Dim
	}
	return p.Dim
}
