package runlog

// Path says for each of records 1..N whether the state after record N includes it: entry n-1 is
// false if a rollback undid record n. Path goes backwards from the last record. At each rollback,
// Path continues with the record to which the rollback returned.
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
