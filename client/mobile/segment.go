package mobile

// A Segment is a run of consecutive parameters that the plan names, such as a layer's weights.
type Segment struct {
	name        string
	off, length int
}

// Name is the segment's name in the plan.
func (s *Segment) Name() string { return s.name }

// Offset is the number of its first parameter.
func (s *Segment) Offset() int { return s.off }

// Length is how many parameters it has.
func (s *Segment) Length() int { return s.length }

// Segments is the number of the plan's segments. A plan that names no segments has one, "all".
func (p *Plan) Segments() int { return len(p.plan.Layout()) }

// Segment returns a segment; 0 is the first. It returns null if there is none of that number.
func (p *Plan) Segment(i int) *Segment {
	for at, s := range p.segments() {
		if at == i {
			return s
		}
	}
	return nil
}

// SegmentNamed returns the first segment of a name, or null if there is none.
func (p *Plan) SegmentNamed(name string) *Segment {
	for _, s := range p.segments() {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (p *Plan) segments() (list []*Segment) {
	off := 0
	for _, s := range p.plan.Layout() {
		list = append(list, &Segment{s.Name, off, int(s.Len)})
		off += int(s.Len)
	}
	return list
}

// Plan is the run's plan. It is null until the run asks the device to take part: by the first
// round, or a little earlier.
func (c *Client) Plan() *Plan {
	if !c.isMade() {
		return nil
	}
	return c.device.seen.Load()
}
