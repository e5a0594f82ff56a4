package survey

// A Result is what devices answered to a survey, and the value that the coordinator chose.
type Result struct {
	Kind    string  // what was asked
	Answers uint32  // devices that answered
	Value   float32 // value of the plan from the survey's record on; 0: none works
	Why     string  // why the coordinator chose Value
	Rows    []Row
	Apart   []Apart // whose answers count in part only

	// SignalToNoise, for a survey of mu, is the size of a slope's part of a difference at Value over
	// that of its error, at most [MostSignal]; 0: unknown. LossesFactor, 1 + 1/SignalToNoise^2, is by
	// how much the error multiplies the losses that a run needs.
	SignalToNoise float64 `json:"signal_to_noise,omitempty"`
	LossesFactor  float64 `json:"losses_factor,omitempty"`
	// Bits, for a survey of mu, are the significant bits of losses that are computed in 16 bits.
	Bits int `json:"bits,omitempty"`
	// Warning says why a run with Value may take far more losses than it should, and the remedy.
	Warning string `json:"warning,omitempty"`
}

// An Apart is a member whose answer is unlike all others.
type Apart struct {
	Slot uint32
	Why  string
}

// A Row is what devices answered about one value.
type Row struct {
	At float32 // the value
	// Usable says, for a survey of step, that the mean loss is finite, and for a survey of mu, that
	// both medians are finite and Odd is not 0. If Usable is false, the rest is 0.
	Usable bool

	// Loss, for a survey of step: the mean over the devices of the loss at x - At w, less the loss at
	// x.
	Loss float32

	// Odd and Even, for a survey of mu: the medians, over the devices, of the odd and the even part of
	// the loss along one direction, |a| and |b| of [Mu].
	Odd, Even float32
}
