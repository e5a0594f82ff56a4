package softmax

// Loss multiplies matrices in tiles of two weight rows times two images: four products for four
// numbers loaded, and four independent sums. The compiler can keep a tile of this size in
// registers. Larger tiles spill to memory and are slower.
const (
	tileClasses = 2
	tileImages  = 2
	// segment is the number of products that tile sums in float32. It adds the sums of segments in
	// float64. A segment is short enough that a loss is exact to about 1e-7, because devices take
	// differences of nearly equal losses.
	segment = 112
)

// logits computes, for at most tileImages images i and all classes c,
//
//	out[i][c] = params[c*features:] . image(batch[i]) + bias[c]
func (s *Classifier) logits(out *[tileImages][maxClasses]float64, params []float32, batch []int) {
	weights, bias := params[:s.classes*s.features], params[s.classes*s.features:]
	x0 := s.image(batch[0])
	x1 := s.image(batch[len(batch)-1]) // a single image fills both columns of the tile
	for c := 0; c < s.classes; c += tileClasses {
		// If the number of classes is odd, the last class fills both rows of the tile.
		next := min(c+1, s.classes-1)
		w0 := weights[c*s.features : (c+1)*s.features]
		w1 := weights[next*s.features : (next+1)*s.features]
		d := tile(w0, w1, x0, x1)
		out[0][c], out[1][c] = d[0]+float64(bias[c]), d[1]+float64(bias[c])
		out[0][next], out[1][next] = d[2]+float64(bias[next]), d[3]+float64(bias[next])
	}
}

// image returns the normalized pixels of image i.
func (s *Classifier) image(i int) []float32 {
	return s.images[i*s.features : (i+1)*s.features]
}

// tile computes w0.x0, w0.x1, w1.x0 and w1.x1. The four slices have the same length.
func tile(w0, w1, x0, x1 []float32) (d [tileClasses * tileImages]float64) {
	for at := 0; at < len(w0); at += segment {
		end := min(at+segment, len(w0))
		v := w0[at:end]
		w, x, y := w1[at:end][:len(v)], x0[at:end][:len(v)], x1[at:end][:len(v)]
		var a, b, c, e float32
		for k, p := range v {
			q, z := w[k], x[k]
			a += float32(p * z)
			c += float32(q * z)
			z = y[k]
			b += float32(p * z)
			e += float32(q * z)
		}
		d[0] += float64(a)
		d[1] += float64(b)
		d[2] += float64(c)
		d[3] += float64(e)
	}
	return d
}
