package plan

// AggregateFields is section aggregate: the content of a contribution, and how a record combines
// contributions.
type AggregateFields struct {
	Transport  Transport
	Precision  Precision // of scalars in frames
	Aggregator Aggregator
	Trim       float32 // for TrimmedMean: share cut off at either end
	Clip       float32 // for ClippedMean: largest length of a device's scalars
	DenseKeep  uint32  // for DenseVectors: records whose vectors are kept
	Weights    Weights
	MaxWeight  uint32  // cap on one device's weight
	MaxScalar  float32 // a larger |g|, or element of a vector, is refused
}

var aggregateSection = Section{
	Name: "aggregate",
	Doc:  "what a contribution holds, and how a record combines contributions",
	fields: []Field{
		{Number: 22, Name: "transport", names: transportNames,
			Doc: "what devices send and a record carries"},
		{Number: 23, Name: "aggregator", names: aggregatorNames,
			Doc: "how contributions become one"},
		{Number: 24, Name: "weights", names: weightsNames,
			Doc: "contributors' weights in the mean"},
		{Number: 25, Name: "max_weight", Changeable: true, min: 1, max: MaxWeight, Unit: "samples",
			Doc: "cap on a device's weight"},
		{Number: 26, Name: "max_scalar", Changeable: true, min: 1e-18, max: 1e30, Usual: "65504",
			Doc: "largest scalar, or element of a vector, that is accepted"},
		{Number: 60, Name: "precision", names: precisionNames,
			Doc: "width of scalars in frames"},
		{Number: 61, Name: "trim", Changeable: true, max: 0.5,
			Unit: "share of devices", Usual: "0.1",
			Doc: "share of the contributors cut off at either end"},
		{Number: 62, Name: "clip", Changeable: true, max: 1e30, Usual: "10",
			Doc: "largest length of a device's scalars, as one vector"},
		{Number: 63, Name: "dense_keep", Changeable: true, max: anyUint32,
			Unit: "records", Usual: "16",
			Doc: "records whose vectors are kept"},
	}}

// TermPrecision returns the precision of the scalars in records. Records have the precision of
// contributions, with one exception. If devices of groups send scalars of few bits, a record holds
// the means of the groups in half precision, because few bits would add a rounding error a second
// time.
func (p *Plan) TermPrecision() Precision {
	if p.Sharing == GroupDirections && p.Precision.Quantized() {
		return Half
	}
	return p.Precision
}
