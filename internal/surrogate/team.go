package surrogate

import "sync"

// group is how many candidates a worker processes together, so that each row of A^-1 is in the
// cache for all of them.
const group = 8

// A team distributes the groups of candidates among goroutines. The goroutines end before
// Uncertainty returns. Results do not depend on the distribution.
type team struct {
	workspaces []workspace
	wg         sync.WaitGroup
}

func newTeam(p *Process) *team {
	t := &team{workspaces: make([]workspace, p.cfg.Workers)}
	for i := range t.workspaces {
		d := &t.workspaces[i]
		*d = newDesk(p)
		d.start = func() {
			defer t.wg.Done()
			d.work()
		}
	}
	return t
}

// run distributes the groups evenly among the workers.
func (t *team) run(dst []float64, xs [][]float64) {
	groups := (len(xs) + group - 1) / group
	workers := min(len(t.workspaces), groups)
	for i := range workers {
		from, to := i*groups/workers*group, min(len(xs), (i+1)*groups/workers*group)
		t.workspaces[i].dst, t.workspaces[i].xs = dst[from:to], xs[from:to]
	}
	t.wg.Add(workers - 1)
	for i := 1; i < workers; i++ {
		go t.workspaces[i].start()
	}
	t.workspaces[0].work()
	t.wg.Wait()
}

// A workspace is the memory of one worker.
type workspace struct {
	p     *Process
	start func() // created once: a go statement with a func() does not allocate
	dst   []float64
	xs    [][]float64

	x []float64        // a candidate minus center
	u [group][]float64 // slopes, by slot
	q [group][]float64 // inner products of the candidate and the points
	r [group]float64   // inner product of the candidate with itself
}

func newDesk(p *Process) workspace {
	d := workspace{p: p, x: make([]float64, p.cfg.Dim)}
	for i := range d.u {
		d.u[i] = make([]float64, p.cfg.Window)
		d.q[i] = make([]float64, p.cfg.Window)
	}
	return d
}

func (d *workspace) work() {
	prior := d.p.kernel.slope0 * float64(d.p.cfg.Dim)
	for xs, dst := d.xs, d.dst; len(xs) > 0; {
		n := min(group, len(xs))
		for i, x := range xs[:n] {
			d.prepare(i, x)
		}
		d.traces(dst[:n])
		for i, known := range dst[:n] {
			dst[i] = min(prior, max(0, prior-known))
		}
		xs, dst = xs[n:], dst[n:]
	}
	d.dst, d.xs = nil, nil
}

// prepare computes u, q and r of a candidate.
func (d *workspace) prepare(i int, x []float64) {
	inv, n := d.p.inv, d.p.sys.n
	for j, c := range inv.center {
		d.x[j] = x[j] - c
	}
	u, q, dim := d.u[i][:n], d.q[i][:n], len(d.x)
	r := dot(d.x, d.x)
	for j := range q {
		q[j] = dot(d.x, inv.x[j*dim:(j+1)*dim])
		squared := r - 2*q[j] + inv.gram.row(j)[j]
		u[j] = d.p.kernel.slope(max(0, squared))
	}
	d.r[i] = r
}
