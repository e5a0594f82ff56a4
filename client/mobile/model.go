package mobile

// A Model is a copy of a client's model, in this library's memory, to be read in pieces that belong
// to one record. It does not change while the client trains.
type Model struct {
	record int64
	x      []float32
}

// CopyModel returns a copy of the model that Params writes, or null if there is none. It takes
// 4*Dim bytes outside Java's heap.
func (c *Client) CopyModel() *Model {
	defer contain()
	if !c.isMade() {
		return nil
	}
	m := &Model{x: make([]float32, c.settings.Dim)}
	n, err := c.inner.Params(m.x)
	if n == 0 || err != nil {
		return nil
	}
	m.record = int64(n)
	return m
}

// Record is the index of the record after which the model had these parameters.
func (m *Model) Record() int64 {
	if m == nil {
		return 0
	}
	return m.record
}

// Dim is the number of parameters.
func (m *Model) Dim() int {
	if m == nil {
		return 0
	}
	return len(m.x)
}

// ReadParams is like [Round]'s.
func (m *Model) ReadParams(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return floats.read(dst, off, m.Dim(), m.read)
}

// ReadHalf is like [Round]'s.
func (m *Model) ReadHalf(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return halves.read(dst, off, m.Dim(), m.read)
}

// ReadInt8 is like [Round]'s.
func (m *Model) ReadInt8(off int, scale float64, dst []byte) (n int, err error) {
	defer guard(&err)
	return multiples(scale).read(dst, off, m.Dim(), m.read)
}

// Block is like [Round]'s.
func (m *Model) Block(off, count int) (params []byte) {
	defer contain()
	return copyOf(off, count, m.Dim(), m.read)
}

func (m *Model) read(to []float32, off int) error {
	copy(to, m.x[off:])
	return nil
}
