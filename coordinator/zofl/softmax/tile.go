package softmax

// Loss multiplies matrices in tiles of two weight rows times two images: four products for four
// numbers loaded, and four independent sums. This is as much as the compiler keeps in registers;
// larger tiles spill and are slower.
const (
	tileClasses = 2
	tileImages  = 2
	// segment is the length of a sum in float32; sums of segments are added in float64. It is
	// short enough for a loss to be right to about 1e-7, which differences of nearly equal
	// losses need.
	segment = 112
)

// logits computes, for at most tileImages images i and all classes c,
//
//	out[i][c] = params[c*features:] . image(batch[i]) + bias[c]
func (s *Classifier) logits(out *[tileImages][maxClasses]float64, params []float32, batch []int) {
	weights, bias := params[:s.classes*s.features], params[s.classes*s.features:]
	x0 := s.image(batch[0])
	x1 := s.image(batch[len(batch)-1]) // a lone image is its own neighbor
	for c := 0; c < s.classes; c += tileClasses {
		// The last row of an odd number of classes is its own neighbor.
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

// tile computes w0.x0, w0.x1, w1.x0 and w1.x1. The slices are equally long.
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
