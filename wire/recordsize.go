package wire

// RecordHead bounds the bytes of a record beside its terms and slots.
const RecordHead = 128

// term bounds the bytes that the scalars of one device for some steps take in a record.
func (p *Plan) term(steps uint32) uint64 {
	const head = 16 // array, back, source, bin
	return head + uint64(steps)*uint64(p.MaxPerturbations())*uint64(p.Precision.Width())
}

// RecordBytes bounds the bytes of a round's record. Package wire/cost has the bytes of a
// given round.
func (p *Plan) RecordBytes() uint64 {
	const weight, slot = 5, 5
	target := uint64(p.Target)
	switch p.Transport {
	case DenseVectors:
		return RecordHead
	case Relay:
		return RecordHead + target*(p.term(p.Steps)+weight)
	}
	switch p.Control {
	case ScaffoldMean:
		return RecordHead + (target+1)*p.term(p.Steps) + target*slot
	case ScaffoldPoint:
		return RecordHead + p.term(p.Steps) + p.term(1)
	}
	return RecordHead + p.term(p.Steps)
}
