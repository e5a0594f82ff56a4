package plan

// A Plan is everything that devices and coordinator agree on before a run starts. Record 1 of the
// log holds the plan. A training method is a combination of values; package preset has the methods
// of the papers. Missing fields are zero; each field says what zero means.
//
// The sections are embedded: the quorum is p.Quorum, and a function that needs only one section
// takes that section, such as &p.RoundsFields.
type Plan struct {
	Run    string // name of the run, one token of its NATS subjects
	Preset string // preset from which the plan was made, for people
	Scheme uint32 // version of the direction generator: prng.Scheme
	RunKey Bytes  // 32 bytes from which all directions derive; empty: from the app's secret

	// KeyCheck verifies an app's secret run key, see [KeyCheck]. KeyCheck is empty if and only if
	// RunKey is public.
	KeyCheck Bytes

	// KeyScheme is 1 if keys derive from the secret, see [Plan.DerivesKeys], else 0.
	KeyScheme uint8

	Dim uint64 // d, number of parameters

	ModelFields
	ProbeFields
	SurrogateFields
	GroupsFields
	LocalFields
	ServerFields
	AggregateFields
	RobustFields
	PrivacyFields
	RoundsFields
	LateFields
	EvaluationFields
	StopFields
}

var runSection = Section{
	Name: "run",
	Doc:  "what every plan has",
	fields: []Field{
		{Number: 1, Name: "run",
			Doc: "name of the run, a token of its subjects"},
		{Number: 2, Name: "preset",
			Doc: "preset that the plan was made from"},
		{Number: 3, Name: "scheme", min: 1, max: 1,
			Doc: "version of the direction generator"},
		{Number: 4, Name: "run_key",
			Doc: "32 bytes from which directions derive"},
		{Number: 5, Name: "dim", min: 1, max: MaxDim, Unit: "parameters",
			Doc: "number of parameters"},
		{Number: 47, Name: "key_check",
			Doc: "check of the app's secret run key, where run_key is empty"},
		{Number: 105, Name: "key_scheme", names: []string{"secret", "hkdf"},
			Doc: "how keys derive from the app's secret"},
	}}
