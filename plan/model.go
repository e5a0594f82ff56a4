package plan

import (
	"cmp"
	"slices"
)

// ModelFields is section model: the layout of the parameters, and their first values.
type ModelFields struct {
	Segments      []Segment // partition of the parameters; none: a single segment
	Initial       Initial   // where the initial parameters come from
	InitialDigest Bytes     // with Given: the 32-byte digest of the initial state

	// Boxes bound the parameters: one box for each segment, or one box for all; none: no bounds.
	// Within a box local steps, Mu and Radius are in the coordinates of the box: 0 at Low and 1 at
	// High. Devices never evaluate the loss outside the boxes.
	Boxes []Box

	// Columns is the number of columns of each device's data. Before round 1 devices find Stats, the
	// statistics of each column over the data of all devices, which give all of them one scale: see
	// package stats. 0: devices find none.
	Columns uint32
	Stats   []Column // none yet, or one for each of Columns
}

var modelSection = Section{
	Name: "model",
	Doc:  "how the parameters lie, and where they begin",
	fields: []Field{
		{Number: 6, Name: "segments",
			Usual: `[{"name":"hidden","len":100,"fill":"normal","scale":0.1}]`,
			Doc:   "partition of the parameters"},
		{Number: 7, Name: "initial", names: initialNames,
			Doc: "where the first parameters come from"},
		{Number: 8, Name: "initial_digest",
			Doc: "digest of the given parameters"},
		{Number: 64, Name: "boxes", Usual: `[{"low":-1,"high":1}]`,
			Doc: "low and high of each segment's parameters, or of all"},
		{Number: 118, Name: "columns", max: MaxColumns, Unit: "columns", Usual: "8",
			Doc: "columns of the devices' data whose statistics devices find, 0 for none"},
		{Number: 119, Name: "stats", Changeable: true,
			Usual: `[{"count":300,"mean":1.5,"std":0.2}]`,
			Doc:   "statistics of each column over the data of all devices; `zofl stats` shows them"},
	}}

// A Segment is a run of consecutive parameters, such as a layer's weights.
type Segment struct {
	Name      string  `json:"name"`
	Len       uint64  `json:"len"`
	Fill      Fill    `json:"fill,omitempty"`
	Scale     float32 `json:"scale,omitempty"`      // of the fill
	MuScale   float32 `json:"mu_scale,omitempty"`   // factor on Mu; 0 means 1
	StepScale float32 `json:"step_scale,omitempty"` // factor on the step; 0 means 1

	// Rows is the number of rows of a matrix whose elements are the segment, in row-major order; 0:
	// the segment is not a matrix. LowRank alone uses Rows.
	Rows uint64 `json:"rows,omitempty"`
}

// Columns returns the number of columns of a matrix, or Len of a segment that is not a matrix.
func (s *Segment) Columns() uint64 { return s.Len / max(s.Rows, 1) }

// A Box is the range in which the values of parameters stay.
type Box struct {
	Low  float32 `json:"low"`
	High float32 `json:"high"`
}

// OnRays reports whether each point of a step is x plus one multiple of a direction of rank 1: the
// plan has such directions, and neither boxes nor a segment with a scale of mu.
func (p *Plan) OnRays() bool {
	scaled := func(s Segment) bool { return s.MuScale != 0 && s.MuScale != 1 }
	return p.Distribution == LowRank && len(p.Boxes) == 0 &&
		!slices.ContainsFunc(p.Segments, scaled)
}

// Layout returns the segments with defaults: one segment of all parameters if the plan has none,
// and scales of 1 for 0.
func (p *Plan) Layout() []Segment {
	segments := p.Segments
	if len(segments) == 0 {
		segments = []Segment{{Name: "all", Len: p.Dim}}
	}
	out := make([]Segment, len(segments))
	for i, s := range segments {
		s.MuScale, s.StepScale = cmp.Or(s.MuScale, 1), cmp.Or(s.StepScale, 1)
		out[i] = s
	}
	return out
}
