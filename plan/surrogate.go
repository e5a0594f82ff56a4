package plan

// SurrogateFields is section surrogate: the Gaussian process that a device fits to its loss, with
// estimator=surrogate. Lengths are in the coordinates of Boxes.
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
			Doc: "M, random features of a surrogate"},
		{Number: 70, Name: "length_scale", max: 1e6, Unit: "sides of a box", Usual: "1",
			Doc: "l, length scale of a surrogate's kernel"},
		{Number: 71, Name: "noise", max: 1e6, Usual: "1e-6",
			Doc: "sigma^2, noise of a loss; losses are scaled to a variance of 1"},
		{Number: 72, Name: "window", max: MaxWindow, Unit: "losses", Usual: "300",
			Doc: "n, losses that a surrogate uses"},
		{Number: 74, Name: "active", Changeable: true, max: 4096, Unit: "queries", Usual: "5",
			Doc: "queries around each local iterate"},
		{Number: 75, Name: "around", Changeable: true, max: 4096, Unit: "queries", Usual: "20",
			Doc: "queries around a round's x"},
		{Number: 76, Name: "candidates", Changeable: true, max: 1 << 16,
			Unit: "points", Usual: "100",
			Doc: "points from which the most uncertain are queried"},
		{Number: 77, Name: "radius", Changeable: true, max: 1e6,
			Unit: "sides of a box", Usual: "0.01",
			Doc: "half the side of the cube of candidates"},
		{Number: 78, Name: "correction", Changeable: true, names: correctionNames,
			Doc: "gamma, factor on a local step's correction"},
		{Number: 79, Name: "correction_at", Changeable: true, names: correctionAtNames,
			Doc: "where the correction is evaluated"},
		{Number: 80, Name: "heterogeneity", Changeable: true, max: 1e30, Usual: "1",
			Doc: "G of correction=theory"},
		{Number: 112, Name: "prior", names: []string{"mean", "zero"},
			Doc: "mean of a surrogate's losses before any is measured"},
		{Number: 113, Name: "length_fit", names: []string{"off", "on"},
			Doc: "whether a device fits the length scale of its surrogate at each step"},
	}}
