package plan

// PrivacyFields is section privacy: how much others learn about a device. Package dpnoise adds the
// noise of differential privacy, package dp computes what it protects, and package secagg computes
// secure aggregation. A record holds the result.
type PrivacyFields struct {
	DPClip      float32 // C, largest L2 norm of a device's scalars of a round; 0: no noise
	DPNoise     float32 // sigma: the noise's standard deviation is sigma*C
	DPBy        uint8   // who adds the noise, see package dpnoise
	DPOf        uint8   // whether DPNoise is of a device or of a sum, see package dpnoise
	DPDelta     float32 // delta, for which epsilon is reported
	Secure      uint8   // 1: the coordinator learns only the sum
	SecureRange float32 // devices limit scalars to plus and minus this; 0: see package secagg
	SecureLists uint8   // 1: devices agree on the lists of participants before they unmask a sum
}

var privacySection = Section{
	Name: "privacy",
	Doc:  "how much others learn about a device: noise, and sums in place of scalars",
	fields: []Field{
		{Number: 98, Name: "dp_clip", max: 1e9, Usual: "10",
			Doc: "L2 norm to which a device's scalars of a round are cut, 0 for no privacy"},
		{Number: 99, Name: "dp_noise", max: 1000, Unit: "dp_clip", Usual: "20",
			Doc: "standard deviation of the noise, in units of dp_clip"},
		{Number: 100, Name: "dp_by", names: []string{"device", "coordinator"},
			Doc: "who cuts scalars and adds noise"},
		{Number: 101, Name: "dp_delta", max: 1, Usual: "1e-5",
			Doc: "delta for which epsilon is reported"},
		{Number: 106, Name: "secure", names: []string{"none", "sum"},
			Doc: "what the coordinator learns of the scalars of a round"},
		{Number: 107, Name: "secure_range", max: 1e9, Usual: "1000",
			Doc: "largest scalar of secure=sum, 0 for what the plan bounds"},
		{Number: 108, Name: "dp_of", names: []string{"device", "sum"},
			Doc: "whether dp_noise is the noise of each device or of a sum"},
		{Number: 111, Name: "secure_lists", names: []string{"believed", "agreed"},
			Doc: "whether devices agree on who takes part in a sum, or believe it"},
	}}
