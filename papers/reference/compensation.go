package reference

// Compensate is equation (10) of the DeComFL paper. Compensate computes x_{r+1} from a client's
// local model after its K steps, the client's own scalars and the mean scalars, without x_r:
//
//	x_{r+1} = x_i^K - (eta/P) sum_{k,p} (g_{r,p}^k - g_{i,r,p}^k) z_{r,p}^k
//
// Equation (10) holds for plain SGD only. With momentum or weight decay a step also depends on
// the iterate, so that the models of the client and the server differ by more than the difference
// of their scalars.
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
