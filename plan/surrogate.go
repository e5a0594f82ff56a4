package plan

// SurrogateFields is section surrogate: the model of its loss that a device fits, with
// SurrogateEstimator. Lengths are in the coordinates of Boxes.
type SurrogateFields struct {
	Features      uint32  // M, random Fourier features
	LengthScale   float32 // l
	LengthFit     uint8   // 1: a device's process fits l at each step, see package surrogate
	Prior         uint8   // 0: a process has the mean of the window's losses; 1: it has mean 0
	Noise         float32 // sigma^2 of a loss, where losses are scaled to a variance of 1
	Window        uint32  // n, losses that a device's surrogate uses
	Active        uint32  // queries around each local iterate, beside the one at it
	Around        uint32  // queries around a round's x, beside the one at it
	Candidates    uint32  // number of points of which the most uncertain are queried
	Radius        float32 // half the side of the cube from which candidates are drawn
	Correction    Correction
	CorrectionAt  CorrectionAt
	Heterogeneity float32 // G, for CorrectionTheory
}

var surrogateSection = Section{
	Name: "surrogate",
	Doc:  "the model of its loss that a device fits, with estimator=surrogate",
	fields: []Field{
		{Number: 68, Name: "features", max: MaxFeatures, Unit: "features", Usual: "10000",
			Doc: "M, random features of a surrogate",
			at:  func(p *Plan) any { return &p.Features }},
		{Number: 70, Name: "length_scale", max: 1e6, Unit: "sides of a box", Usual: "1",
			Doc: "l, length scale of a surrogate's kernel",
			at:  func(p *Plan) any { return &p.LengthScale }},
		{Number: 71, Name: "noise", max: 1e6, Usual: "1e-6",
			Doc: "sigma^2, noise of a loss; losses are scaled to a variance of 1",
			at:  func(p *Plan) any { return &p.Noise }},
		{Number: 72, Name: "window", max: MaxWindow, Unit: "losses", Usual: "300",
			Doc: "n, losses that a surrogate uses",
			at:  func(p *Plan) any { return &p.Window }},
		{Number: 74, Name: "active", Changeable: true, max: 4096, Unit: "queries", Usual: "5",
			Doc: "queries around each local iterate",
			at:  func(p *Plan) any { return &p.Active }},
		{Number: 75, Name: "around", Changeable: true, max: 4096, Unit: "queries", Usual: "20",
			Doc: "queries around a round's x",
			at:  func(p *Plan) any { return &p.Around }},
		{Number: 76, Name: "candidates", Changeable: true, max: 1 << 16,
			Unit: "points", Usual: "100",
			Doc: "points from which the most uncertain are queried",
			at:  func(p *Plan) any { return &p.Candidates }},
		{Number: 77, Name: "radius", Changeable: true, max: 1e6,
			Unit: "sides of a box", Usual: "0.01",
			Doc: "half the side of the cube of candidates",
			at:  func(p *Plan) any { return &p.Radius }},
		{Number: 78, Name: "correction", Changeable: true, names: correctionNames,
			Doc: "gamma, factor on a local step's correction",
			at:  func(p *Plan) any { return (*uint8)(&p.Correction) }},
		{Number: 79, Name: "correction_at", Changeable: true, names: correctionAtNames,
			Doc: "where the correction is evaluated",
			at:  func(p *Plan) any { return (*uint8)(&p.CorrectionAt) }},
		{Number: 80, Name: "heterogeneity", Changeable: true, max: 1e30, Usual: "1",
			Doc: "G of correction=theory",
			at:  func(p *Plan) any { return &p.Heterogeneity }},
		{Number: 112, Name: "prior", names: []string{"mean", "zero"},
			Doc: "mean of a surrogate's losses before any is measured",
			at:  func(p *Plan) any { return &p.Prior }},
		{Number: 113, Name: "length_fit", names: []string{"off", "on"},
			Doc: "whether a device fits the length scale of its surrogate at each step",
			at:  func(p *Plan) any { return &p.LengthFit }},
	}}
