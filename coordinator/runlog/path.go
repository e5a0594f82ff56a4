package runlog

// Path returns for records 1..N whether the state after record N includes them: entry n-1 is
// false if a rollback undid record n. It walks back from the last record, and from each
// rollback jumps to the record that it returned to.
func (p *Position) Path() []bool {
	path := make([]bool, p.N)
	for n := p.N; n > 0; {
		s := &p.history.stretches[p.history.find(n)]
		for i := s.n; i <= n; i++ {
			path[i-1] = true
		}
		n = s.follows
	}
	return path
}
