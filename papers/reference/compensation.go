package reference

// Compensate is equation (10) of the DeComFL paper: it returns x_{r+1} from a client's local
// model after its K steps, its own scalars and the mean ones, without x_r:
//
//	x_{r+1} = x_i^K - (eta/P) sum_{k,p} (g_{r,p}^k - g_{i,r,p}^k) z_{r,p}^k
//
// It holds for plain SGD alone: with momentum or weight decay a step also depends on the
// iterate, and the scalars' difference is not all that a client and the server differ by.
func (d *DeComFL) Compensate(local []float64, n uint64, own, mean [][]float64) []float64 {
	x := clone(local)
	for k := range d.K {
		for p := range d.P {
			z := d.Direction(0, At{n, k}, p)
			add(x, -d.Eta/float64(d.P)*(mean[k][p]-own[k][p]), z)
		}
	}
	return x
}
